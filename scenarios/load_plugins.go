package scenarios

import (
	"encoding/json"
	"maps"
	"slices"
	"strconv"
	"strings"

	"ipamsim/scenarios/strict"
	"ipamsim/sim/ipam/interfaceplugin"
)

// plugins refuses a network's configuration that names a CNI plugin which is not simulated:
// what it does about an address is not known. place is where the configuration is.
func (l *loader) plugins(config json.RawMessage, place func(kind string) (*strict.Doc, path)) error {
	kind, known, ok := interfaceplugin.Read(config, l.ipam.Plugin).Unknown(l.s.Doc.Spec.Import.Plugins)
	if !ok {
		return nil
	}
	d, p := place(kind)
	return d.FailAt(p, "type: CNI plugin %s is not simulated, %s", strict.Quote(kind), strict.Want(kind, known))
}

// UnknownPlugins are the types of the CNI plugins in a network's configuration that are not
// simulated.
func UnknownPlugins(config string) (out []string) {
	chain := interfaceplugin.Read(json.RawMessage(config), "")
	for kind, _, ok := chain.Unknown(out); ok; kind, _, ok = chain.Unknown(out) {
		out = append(out, kind)
	}
	return out
}

// PlainPlugin is the type of a plugin that does the same with addresses as that of a network's
// configuration, and says no more of the cluster than that.
func PlainPlugin(config string) string {
	return interfaceplugin.Read(json.RawMessage(config), "").Plain()
}

// configured is the manifest that has a plugin of the primary network, and where.
func (l *loader) configured(kind string) (*strict.Doc, path) {
	for _, o := range l.s.Objects {
		var m struct{ Data map[string]string }
		if o.Kind != "ConfigMap" || json.Unmarshal(o.Body, &m) != nil {
			continue
		}
		for _, key := range slices.Sorted(maps.Keys(m.Data)) {
			if strings.Contains(m.Data[key], strconv.Quote(kind)) {
				return l.s.docs[identity{o.Kind, o.Namespace, o.Name}], at("data", key)
			}
		}
	}
	return l.doc, at("spec", "ipam")
}
