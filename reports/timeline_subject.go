package reports

import (
	"slices"
	"strings"

	"ipamsim/model"
)

// subject is what a violation is about, and when its story begins.
type subject struct {
	v        *model.Violation
	named    map[string][]string // objects of the violation by kind: "pod", "address", …
	pods     []string            // keys, those named and those that were given a named address
	networks map[string]string   // actor of a CNI call → its network
	podOf    map[string]string   // actor of a CNI call → its pod
	from     int                 // step at which the oldest life concerned began
}

func subjectOf(r *Report, v *model.Violation) *subject {
	s := &subject{v: v, named: map[string][]string{}, networks: map[string]string{}, podOf: map[string]string{}}
	for _, o := range v.Objects {
		if kind, name, ok := strings.Cut(o, " "); ok {
			s.named[kind] = append(s.named[kind], name)
		}
	}
	s.pods = append(s.pods, s.named["pod"]...)
	if r.History == nil {
		return s
	}
	events := r.History.Events
	for _, e := range events {
		if e.Step > v.Step {
			break
		}
		switch e.Kind {
		case model.AddBegin, model.DelBegin:
			s.networks[e.Actor], s.podOf[e.Actor] = e.Network, e.Pod.String()
		}
	}
	s.begin(events)
	for _, e := range events {
		if e.Kind == model.AddEnd && e.Step >= s.from && e.Step <= v.Step && s.holds(e) && s.ours(e.Network) && !slices.Contains(s.pods, e.Pod.String()) {
			s.pods = append(s.pods, e.Pod.String())
		}
	}
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
				l.alive = slices.Contains(s.named["container"], e.Container)
			}
		}
	}
	s.from = s.v.Step
	for id, l := range lives {
		if l.alive || last[l.pod] == id || len(s.named["address"]) == 0 {
			s.from = min(s.from, l.step)
		}
	}
	if len(lives) == 0 {
		s.from = 0
	}
}

// holds reports whether the event hands out an address of the violation.
func (s *subject) holds(e model.Event) bool {
	return slices.ContainsFunc(s.named["address"], func(a string) bool {
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
	named := s.named["network"]
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

// about reports which of the violation's addresses and of its pods a text
// mentions.
func (s *subject) about(text string) (address, pod bool) {
	yes := func(name string) bool { return says(text, name) }
	return slices.ContainsFunc(s.named["address"], yes), slices.ContainsFunc(s.pods, yes)
}

// carries reports the same of what a message says it is about.
func (s *subject) carries(about []string) (address, pod bool) {
	yes := func(name string) bool { return slices.Contains(about, name) }
	return slices.ContainsFunc(s.named["address"], yes), slices.ContainsFunc(s.pods, yes)
}

// says finds a name in a text as a word of its own: 10.0.0.1 is not in 10.0.0.10
// and web-1 not in web-11, but default/web-1 is in kubelet/n1/default/web-1~2.
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
		if !inName(text, i-1, -1) && !inName(text, i+len(name), 1) {
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
