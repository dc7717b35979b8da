// Package alias gives the names and addresses of a cluster others, so that what is
// written of it can be shown to strangers.
package alias

import (
	"crypto/sha256"
	"fmt"
	"maps"
	"net/netip"
	"slices"
	"strings"
)

// Aliases are the names that stand for others in an anonymised scenario: node-1,
// pod-17. The same name has the same alias everywhere, and aliases are given out in
// the order of names, so that the same dump makes the same scenario.
type Aliases struct {
	of   map[string]map[string]string // kind → name → alias
	addr map[netip.Addr]netip.Addr    // of nodes
	pref []moved                      // of pools, where those are replaced too
}

// moved is a range of addresses that lies elsewhere in the scenario.
type moved struct{ from, to netip.Prefix }

// The kinds of names. A manager may add its own.
const (
	Node      = "node"
	Namespace = "namespace"
	Pod       = "pod"
	Container = "container"
	Workload  = "workload" // a controller of pods
	Network   = "network"  // an attached one, its object
	Label     = "label"    // keys that selectors ask for
	Value     = "value"
)

// Of gives an alias to each of the names.
func Of(names Names) *Aliases {
	a := &Aliases{of: map[string]map[string]string{}, addr: map[netip.Addr]netip.Addr{}}
	for kind, all := range names {
		m := map[string]string{}
		for i, n := range slices.Sorted(maps.Keys(all)) {
			m[n] = fmt.Sprintf("%s-%d", kind, i+1)
		}
		a.of[kind] = m
	}
	return a
}

// Has reports whether a name has an alias of its own.
func (a *Aliases) Has(kind, name string) bool {
	_, ok := a.of[kind][name]
	return ok
}

// Set replaces the alias of a name.
func (a *Aliases) Set(kind, name, alias string) { a.of[kind][name] = alias }

// Get returns the alias of a name; "" stays "". A name that was not announced has no alias and
// must not get through.
func (a *Aliases) Get(kind, name string) string {
	if name == "" {
		return ""
	}
	if s, ok := a.of[kind][name]; ok {
		return s
	}
	return kind + "-0"
}

// Ref is the alias of namespace/name of a pod.
func (a *Aliases) Ref(ref string) string {
	if ref == "" {
		return ""
	}
	ns, name, ok := strings.Cut(ref, "/")
	if !ok {
		return a.Get("pod", ref)
	}
	return a.Get("namespace", ns) + "/" + a.Get("pod", name)
}

// InNamespace is the alias of namespace/name of an object of some kind.
func (a *Aliases) InNamespace(kind, key string) string {
	ns, name, _ := strings.Cut(key, "/")
	return a.Get(Namespace, ns) + "/" + a.Get(kind, name)
}

// Container is the alias of a container id: as long as a real one.
func (a *Aliases) Container(id string) string {
	if id == "" {
		return ""
	}
	return fmt.Sprintf("%x", sha256.Sum256([]byte(a.Get("container", id))))
}

// Address is where an address lies in the scenario.
func (a *Aliases) Address(x netip.Addr) netip.Addr {
	if y, ok := a.addr[x]; ok {
		return y
	}
	for _, m := range a.pref {
		if m.from.Contains(x) {
			return join(m.to.Addr(), x, m.to.Bits())
		}
	}
	return x
}

// Prefix is where a range lies in the scenario. It keeps its length, and the bits
// behind it: Whereabouts counts from the address that a range is written with.
func (a *Aliases) Prefix(p netip.Prefix) netip.Prefix {
	return netip.PrefixFrom(a.Address(p.Addr()), p.Bits())
}

// Text is an address or a CIDR in words; other words become nothing.
func (a *Aliases) Text(s string) string {
	if p, err := netip.ParsePrefix(s); err == nil {
		return a.Prefix(p).String()
	}
	if x, err := netip.ParseAddr(s); err == nil && x.Zone() == "" {
		return a.Address(x).String()
	}
	return ""
}

func (a *Aliases) Texts(all []string) []string {
	var out []string
	for _, s := range all {
		if t := a.Text(s); t != "" {
			out = append(out, t)
		}
	}
	return out
}

// join is the first bits of one address and the rest of another.
func join(head, tail netip.Addr, bits int) netip.Addr {
	h, t := head.AsSlice(), tail.AsSlice()
	for i := range h {
		n := min(max(bits-8*i, 0), 8)
		mask := byte(0xff) << (8 - n)
		h[i] = h[i]&mask | t[i]&^mask
	}
	out, _ := netip.AddrFromSlice(h)
	return out
}

// Key is the alias of a label's key. What Kubernetes itself puts on every node keeps its
// own.
func (a *Aliases) Key(word string) string {
	if slices.Contains(knownLabels, word) {
		return word
	}
	return a.Get(Label, word)
}

// Labels returns the labels of an object that a selector uses.
func (a *Aliases) Labels(m map[string]string) map[string]string {
	out := map[string]string{}
	for k, v := range m {
		if a.Has(Label, k) {
			out[a.Key(k)] = a.Get(Value, v)
		}
	}
	return out
}

var knownLabels = []string{"kubernetes.io/hostname", "kubernetes.io/os", "kubernetes.io/arch", "topology.kubernetes.io/zone", "topology.kubernetes.io/region", "kubernetes.io/metadata.name"}
