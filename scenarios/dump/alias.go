package dump

import (
	"crypto/sha256"
	"fmt"
	"net/netip"
	"slices"
	"strings"

	"ipamsim/scenarios/strict"
)

// aliases are the names that stand for others in an anonymised scenario: node-1,
// pod-17. The same name has the same alias everywhere, and aliases are given out in
// the order of names, so that the same dump makes the same scenario.
type aliases struct {
	of   map[string]map[string]string // kind → name → alias
	addr map[netip.Addr]netip.Addr    // of nodes
	pref []moved                      // of pools, where those are replaced too
}

// moved is a range of addresses that lies elsewhere in the scenario.
type moved struct{ from, to netip.Prefix }

func newAliases() *aliases {
	return &aliases{of: map[string]map[string]string{}, addr: map[netip.Addr]netip.Addr{}}
}

// name gives aliases to all of these.
func (a *aliases) name(kind string, names map[string]bool) {
	m := map[string]string{}
	for i, n := range keysOf(names) {
		m[n] = fmt.Sprintf("%s-%d", kind, i+1)
	}
	a.of[kind] = m
}

// get is the alias of a name; "" stays "". A name that nobody announced has none of
// its own, and must not get through.
func (a *aliases) get(kind, name string) string {
	if name == "" {
		return ""
	}
	if s, ok := a.of[kind][name]; ok {
		return s
	}
	return kind + "-0"
}

// ref is the alias of namespace/name of a pod.
func (a *aliases) ref(ref string) string {
	if ref == "" {
		return ""
	}
	ns, name, ok := strings.Cut(ref, "/")
	if !ok {
		return a.get("pod", ref)
	}
	return a.get("namespace", ns) + "/" + a.get("pod", name)
}

// container is the alias of a container id: as long as a real one.
func (a *aliases) container(id string) string {
	if id == "" {
		return ""
	}
	return fmt.Sprintf("%x", sha256.Sum256([]byte(a.get("container", id))))
}

// tunnelHandles are the handles of nodes' own addresses, without the node's name.
//
// Source: node/pkg/allocateip, generateHandleAndAttributes (v3.31).
var tunnelHandles = []string{"ipip-tunnel-addr-", "vxlan-tunnel-addr-", "vxlan-v6-tunnel-addr-", "wireguard-tunnel-addr-", "wireguard-v6-tunnel-addr-"}

// handle is the alias of a handle.
func (a *aliases) handle(id string) string {
	if c, ok := strings.CutPrefix(id, podHandle); ok {
		return podHandle + a.container(c)
	}
	for _, t := range tunnelHandles {
		if n, ok := strings.CutPrefix(id, t); ok {
			return t + a.get("node", n)
		}
	}
	if id == "windows-reserved-ipam-handle" {
		return id
	}
	return a.get("handle", id)
}

// address is where an address lies in the scenario.
func (a *aliases) address(x netip.Addr) netip.Addr {
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

// prefix is where a range lies in the scenario. It keeps its length, and the bits
// behind it: Whereabouts counts from the address that a range is written with.
func (a *aliases) prefix(p netip.Prefix) netip.Prefix {
	return netip.PrefixFrom(a.address(p.Addr()), p.Bits())
}

// text is an address or a CIDR in words; other words become nothing.
func (a *aliases) text(s string) string {
	if p, err := netip.ParsePrefix(s); err == nil {
		return a.prefix(p).String()
	}
	if x, err := netip.ParseAddr(s); err == nil && x.Zone() == "" {
		return a.address(x).String()
	}
	return ""
}

func (a *aliases) texts(all []string) []string {
	var out []string
	for _, s := range all {
		if t := a.text(s); t != "" {
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

// selector replaces names in a selector of Calico's. Keys of labels become label-1,
// the texts that they are compared with value-1.
//
// Source: libcalico-go/lib/selector (v3.31).
func (a *aliases) selector(s string) (string, error) {
	var b strings.Builder
	var words []string // of the operator before the next text
	for i := 0; i < len(s); {
		switch c := s[i]; {
		case c == '"' || c == '\'':
			end := strings.IndexByte(s[i+1:], c)
			if end < 0 {
				return "", fmt.Errorf("selector %s: a quote is never closed", strict.Quote(s))
			}
			if n := len(words); n > 0 && slices.Contains([]string{"contains", "with"}, words[n-1]) {
				return "", fmt.Errorf("selector %s: %q compares parts of names, which anonymised ones do not have: import without --anonymise", strict.Quote(s), words[n-1])
			}
			b.WriteString(`'` + a.get("value", s[i+1:i+1+end]) + `'`)
			i += end + 2
		case wordByte(c):
			n := i
			for n < len(s) && wordByte(s[n]) {
				n++
			}
			words = append(words, s[i:n])
			b.WriteString(a.key(s[i:n]))
			i = n
		default:
			b.WriteByte(c)
			i++
		}
	}
	return b.String(), nil
}

func wordByte(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || strings.IndexByte("_./-", c) >= 0
}

// selectorWords are not keys of labels.
var selectorWords = []string{"all", "has", "in", "not", "contains", "starts", "ends", "with", "global"}

// key is the alias of a label's key, or a word of the language. What Kubernetes
// itself puts on every node keeps its key.
func (a *aliases) key(word string) string {
	if slices.Contains(selectorWords, word) || slices.Contains(knownLabels, word) {
		return word
	}
	return a.get("label", word)
}

var knownLabels = []string{"kubernetes.io/hostname", "kubernetes.io/os", "kubernetes.io/arch", "topology.kubernetes.io/zone", "topology.kubernetes.io/region", "kubernetes.io/metadata.name"}

// keysIn are the words of a selector that are keys of labels, and the texts.
func keysIn(s string, keys, values map[string]bool) {
	for i := 0; i < len(s); {
		switch c := s[i]; {
		case c == '"' || c == '\'':
			end := strings.IndexByte(s[i+1:], c)
			if end < 0 {
				return
			}
			values[s[i+1:i+1+end]] = true
			i += end + 2
		case wordByte(c):
			n := i
			for n < len(s) && wordByte(s[n]) {
				n++
			}
			if !slices.Contains(selectorWords, s[i:n]) {
				keys[s[i:n]] = true
			}
			i = n
		default:
			i++
		}
	}
}
