package interfaceplugin

import (
	"encoding/json"
	"slices"
)

// Chain is the plugins of one network.
type Chain struct {
	Types []string // in the order of ADD
	Main  int      // the one with the IPAM plugin
	own   bool     // that is a plugin of the manager's own, which executes its IPAM plugin itself
}

// entry is one plugin of a configuration.
type entry struct {
	Type string
	IPAM json.RawMessage
}

// hasIPAM reports whether the plugin executes an IPAM plugin.
func (e entry) hasIPAM() bool {
	var section struct{ Type string }
	return json.Unmarshal(e.IPAM, &section) == nil && section.Type != ""
}

// Read reads a network's configuration, a list or that of one plugin; own is the type of the
// manager's own plugin, "" if it has none. What cannot be read is a plugin of the manager's own.
//
// The plugin with the IPAM plugin is the first one that has an ipam section.
func Read(config json.RawMessage, own string) Chain {
	var c struct {
		entry
		Plugins []json.RawMessage
	}
	if json.Unmarshal(config, &c) != nil {
		return Chain{Types: []string{""}, own: true}
	}
	all := []entry{c.entry}
	if c.Type == "" && len(c.Plugins) > 0 {
		all = make([]entry, len(c.Plugins))
		for i, p := range c.Plugins {
			_ = json.Unmarshal(p, &all[i]) // it has no type then
		}
	}
	out := Chain{Main: max(0, slices.IndexFunc(all, entry.hasIPAM))}
	for _, e := range all {
		out.Types = append(out.Types, e.Type)
	}
	out.own = own != "" && out.main() == own
	return out
}

func (c Chain) main() string { return c.Types[c.Main] }

// Plain is the type of a plugin that does the same with addresses as that with the IPAM plugin
// does while nothing fails: its own if it needs a network namespace, else macvlan's.
func (c Chain) Plain() string {
	if p := of(c.main()); p.NeedsNamespace {
		return p.Type
	}
	return macvlan.Type
}

// Unknown is the first type that is neither simulated nor in allowed, with the types that could
// replace it; ok is false if there is none. The manager checks that the plugin with the IPAM plugin
// has a type.
func (c Chain) Unknown(allowed []string) (kind string, want []string, ok bool) {
	for i, t := range c.Types {
		if i == c.Main && (c.own || t == "") || slices.Contains(allowed, t) {
			continue
		}
		known := types()
		if i != c.Main {
			known = append(known, chained...)
		}
		if !slices.Contains(known, t) {
			slices.Sort(known)
			return t, known, true
		}
	}
	return "", nil, false
}
