package whereabouts

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"strings"
)

// object is a JSON object as it was written: numbers keep their digits.
type object = map[string]any

// ours is the type of an ipam section that Whereabouts feels concerned by.
const ours = "whereabouts"

func decode(raw []byte) (object, error) {
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	var o object
	if err := d.Decode(&o); err != nil {
		return nil, err
	}
	if _, err := d.Token(); err != io.EOF {
		return nil, errors.New("something follows the configuration")
	}
	return o, nil
}

// get finds a key as encoding/json does, ignoring case.
func get(o object, key string) any {
	if v, ok := o[key]; ok {
		return v
	}
	for k, v := range o {
		if strings.EqualFold(k, key) {
			return v
		}
	}
	return nil
}

func set(o object, key string, v any) {
	for k := range o {
		if strings.EqualFold(k, key) {
			delete(o, k)
		}
	}
	if v != nil {
		o[key] = v
	}
}

// serves reports whether Whereabouts is the address manager of a plugin.
func serves(plugin object) bool {
	ipam, ok := get(plugin, "ipam").(object)
	return ok && get(ipam, "type") == ours
}

// plugins are the plugins of a configuration list, or the plugin of a plain configuration. list
// distinguishes them as upstream does: a plain configuration has a type at the top.
//
// Source: pkg/config/config.go, LoadIPAMConfiguration (v0.9.4).
func plugins(conf object) (all []object, list bool) {
	if t, _ := get(conf, "type").(string); t != "" {
		return []object{conf}, false
	}
	l, _ := get(conf, "plugins").([]any)
	for _, p := range l {
		o, _ := p.(object)
		all = append(all, o)
	}
	return all, true
}

// stdin is the standard input of a network's plugin with Whereabouts as its address manager, as
// Multus, or libcni for a list, passes it; nil if there is none.
//
// Sources: network-attachment-definition-client/pkg/utils, GetCNIConfigFromSpec
// (a configuration without a name gets that of the object); libcni, InjectConf (a
// plugin of a list gets the list's name and version).
func stdin(key string, raw []byte) ([]byte, error) {
	conf, err := decode(raw)
	if err != nil {
		return nil, err
	}
	all, list := plugins(conf)
	for _, p := range all {
		if !serves(p) {
			continue
		}
		if list {
			set(p, "name", get(conf, "name"))
			set(p, "cniVersion", get(conf, "cniVersion"))
		}
		if name, _ := get(p, "name").(string); name == "" {
			_, name, _ = strings.Cut(key, "/")
			set(p, "name", name)
		}
		return json.Marshal(p)
	}
	return nil, nil
}
