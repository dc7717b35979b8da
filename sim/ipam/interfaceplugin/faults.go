package interfaceplugin

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"sync"

	"ipamsim/sim/ipam"
)

// Fault is a plugin of a node that fails while it lasts.
type Fault struct {
	Node    string
	Type    string // "": the plugins that execute the IPAM plugin
	Command string // ADD or DEL; "": both
}

// Faults are the plugin faults of a cluster, with the plugins of its networks.
type Faults struct {
	own    string           // ipam.Manager.Plugin
	chains map[string]Chain // by network

	mu  sync.Mutex
	all []*Fault
}

// NewFaults is a cluster without networks in which nothing fails; own is the type of the
// manager's own plugin.
func NewFaults(own string) *Faults { return &Faults{own: own, chains: map[string]Chain{}} }

// Network adds a network before the run begins.
func (f *Faults) Network(key string, config json.RawMessage) { f.chains[key] = Read(config, f.own) }

// Types are the types of the plugins of all networks, sorted.
func (f *Faults) Types() []string {
	all := map[string]bool{}
	for _, c := range f.chains {
		for _, t := range c.Types {
			all[t] = true
		}
	}
	return slices.Sorted(maps.Keys(all))
}

// Begin begins a fault, and returns what ends it.
func (f *Faults) Begin(x Fault) (end func()) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.all = append(f.all, &x)
	return func() {
		f.mu.Lock()
		defer f.mu.Unlock()
		f.all = slices.DeleteFunc(f.all, func(other *Fault) bool { return other == &x })
	}
}

// of is the error of a plugin that fails now, an *ipam.Faulted, or nil.
func (f *Faults) of(node, kind, command string, main bool) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	meets := func(x *Fault) bool {
		return x.Node == node && (x.Type == kind || x.Type == "" && main) && (x.Command == command || x.Command == "")
	}
	if !slices.ContainsFunc(f.all, meets) {
		return nil
	}
	return &ipam.Faulted{Err: fmt.Errorf("plugin type=%q failed (%s): input/output error", kind, words[command])}
}

// words are libcni's for the commands.
var words = map[string]string{"ADD": "add", "DEL": "delete"}
