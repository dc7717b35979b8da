package reports

import (
	"net/netip"
	"slices"
	"strconv"
	"strings"

	"ipamsim/model"
)

// subject is what a violation is about, and when its story begins.
type subject struct {
	v        *model.Violation
	named    map[model.RefKind][]string // names of the violation's objects
	blocks   []string                   // CIDRs of those named, and of those that hold a named address
	pods     []string                   // keys, those named and those that were given a named address
	networks map[string]string          // actor of a CNI call → its network
	podOf    map[string]string          // actor of a CNI call → its pod
	nodeOf   map[string]string          // actor of a CNI call → the node it runs on
	isPod    map[string]bool            // the pods of all CNI calls
	typed    map[string]bool            // operators who typed a command
	wrote    map[string]bool            // actors that wrote anything
	from     int                        // step at which the oldest life concerned began
}

func subjectOf(r *Report, v *model.Violation) *subject {
	s := &subject{v: v, named: map[model.RefKind][]string{}, networks: map[string]string{}, podOf: map[string]string{},
		nodeOf: map[string]string{}, isPod: map[string]bool{}, typed: map[string]bool{}, wrote: map[string]bool{}}
	for _, o := range v.Objects {
		s.named[o.Kind] = append(s.named[o.Kind], o.Name)
	}
	s.pods = append(s.pods, s.named[model.RefPod]...)
	s.blocks = append(s.blocks, s.named[model.RefBlock]...)
	s.holding(v.Message)
	s.shorten()
	if r.History == nil {
		return s
	}
	events := r.History.Events
	s.claimants(events)
	for _, e := range events {
		if e.Step > v.Step {
			break
		}
		switch e.Kind {
		case model.AddBegin, model.DelBegin:
			s.networks[e.Actor], s.podOf[e.Actor] = e.Network, e.Pod.String()
			s.nodeOf[e.Actor], s.isPod[e.Pod.String()] = e.Node, true
		case model.Output:
			s.typed[e.Actor] = true
		}
	}
	s.begin(events)
	for _, e := range events {
		if e.Kind == model.AddEnd && e.Step >= s.from && e.Step <= v.Step && s.holds(e) && s.ours(e.Network) && !slices.Contains(s.pods, e.Pod.String()) {
			s.pods = append(s.pods, e.Pod.String())
		}
	}
	s.assignments(r)
	return s
}

// begin finds where the story starts: with the oldest sandbox that is alive when
// the invariant breaks, or the last one of a pod that has none. A pod's earlier
// lives are another story, unless there is no address to tell it of: then the
// story is what the pod went through.
func (s *subject) begin(events []model.Event) {
	type life struct {
		pod   string
		step  int
		alive bool
	}
	lives := map[string]*life{} // by container
	last := map[string]string{} // pod → container
	for _, e := range events {
		key := e.Pod.String()
		if e.Step > s.v.Step || !slices.Contains(s.pods, key) {
			continue
		}
		switch e.Kind {
		case model.SandboxUp:
			lives[e.Container], last[key] = &life{key, e.Step, true}, e.Container
		case model.SandboxDown:
			if l := lives[e.Container]; l != nil {
				l.alive = slices.Contains(s.named[model.RefContainer], e.Container)
			}
		}
	}
	s.from = s.v.Step
	for id, l := range lives {
		if l.alive || last[l.pod] == id || len(s.named[model.RefAddress]) == 0 {
			s.from = min(s.from, l.step)
		}
	}
	if len(lives) == 0 {
		s.from = 0
	}
}

// holds reports whether the event hands out an address of the violation.
func (s *subject) holds(e model.Event) bool {
	return slices.ContainsFunc(s.named[model.RefAddress], func(a string) bool {
		for _, x := range e.Addrs {
			if x.String() == a {
				return true
			}
		}
		return false
	})
}

// ours reports whether a network has to do with the violation: a pod's other
// interfaces do not.
func (s *subject) ours(network string) bool {
	named := s.named[model.RefNetwork]
	return len(named) == 0 || network == "" || slices.Contains(named, network)
}

// pod is the pod, of those concerned, that an actor works for: as its CNI
// plugin or in its kubelet.
func (s *subject) pod(actor string) string {
	if p := s.podOf[actor]; p != "" {
		if slices.Contains(s.pods, p) {
			return p
		}
		return ""
	}
	for _, p := range s.pods {
		if says(actor, p) {
			return p
		}
	}
	return ""
}

// mentions is which of the things that a violation is about a message is about. Of
// nodes, only those that it names in words count: every message has to do with
// some.
type mentions struct{ address, pod, block, handle, node bool }

func (m mentions) any() bool { return m.address || m.pod || m.block || m.handle }

// about reads a message's words; also is what it says of itself besides, if it
// does.
func (s *subject) about(text string, also []string) mentions {
	in := func(names []string) bool {
		return slices.ContainsFunc(names, func(n string) bool { return says(text, n) || slices.Contains(also, n) })
	}
	node := slices.ContainsFunc(s.named[model.RefNode], func(n string) bool { return says(text, n) })
	return mentions{in(s.named[model.RefAddress]), in(s.pods), in(s.blocks), in(s.named[model.RefHandle]), node}
}

// says finds a name in a text as a word of its own: 10.0.0.1 is not in 10.0.0.10,
// 10.0.0.0 not in 10.0.0.0/26 and web-1 not in web-11, but default/web-1 is in
// kubelet/n1/default/web-1~2.
func says(text, name string) bool {
	if name == "" {
		return false
	}
	for at := 0; ; {
		i := strings.Index(text[at:], name)
		if i < 0 {
			return false
		}
		i += at
		if !inName(text, i-1, -1) && !inName(text, i+len(name), 1) && !ofNetwork(text, i, len(name)) {
			return true
		}
		at = i + 1
	}
}

// inName reports whether the byte at i belongs to the same name as its
// neighbour. A dot does if the name goes on behind it; the one that ends a
// sentence does not. So does the colon inside an IPv6 address.
func inName(text string, i, onwards int) bool {
	if i < 0 || i >= len(text) {
		return false
	}
	letter := func(c byte) bool {
		return c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c == '-'
	}
	if c := text[i]; c != '.' && c != ':' {
		return letter(c)
	}
	i += onwards
	return i >= 0 && i < len(text) && letter(text[i])
}

// ofNetwork reports whether the name at i is the address of a network, of more than
// one address, as in 10.0.0.0/26.
func ofNetwork(text string, i, n int) bool {
	end := i + n
	if end+1 >= len(text) || text[end] != '/' || text[end+1] < '0' || text[end+1] > '9' {
		return false
	}
	a, err := netip.ParseAddr(text[i:end])
	bits := end + 1
	for bits < len(text) && text[bits] >= '0' && text[bits] <= '9' {
		bits++
	}
	return err == nil && text[end+1:bits] != strconv.Itoa(a.BitLen())
}
