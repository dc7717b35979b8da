package timeline

import (
	"net/netip"
	"slices"
	"strings"

	"ipamsim/model"
	"ipamsim/model/act"
	"ipamsim/reports"
	"ipamsim/sim"
)

// subject holds the objects of a violation, and the step at which its timeline begins.
type subject struct {
	v        *model.Violation
	named    map[model.RefKind][]string // names of the violation's objects
	blocks   []string                   // CIDRs: named, or containing a named address
	pods     []string                   // keys: named, or assigned a named address
	networks map[string]string          // actor of a CNI call → its network
	local    map[string]bool            // networks that are local to each node
	podOf    map[string]string          // actor of a CNI call → its pod
	nodeOf   map[string]string          // actor of a CNI call → the node it runs on
	isPod    map[string]bool            // the pods of all CNI calls
	typed    map[string]bool            // operators that ran a command
	wrote    map[string]bool            // actors that wrote anything
	races    []model.Race               // that decide the violation
	from     int                        // step at which the oldest sandbox of the violation started
}

func subjectOf(r *reports.Report, v *model.Violation) *subject {
	s := &subject{v: v, named: map[model.RefKind][]string{}, networks: map[string]string{}, local: map[string]bool{}, podOf: map[string]string{},
		nodeOf: map[string]string{}, isPod: map[string]bool{}, typed: map[string]bool{}, wrote: map[string]bool{}}
	for i := range r.Networks {
		s.local[r.Networks[i].Key] = r.Networks[i].Local
	}
	for _, o := range v.Objects {
		s.named[o.Kind] = append(s.named[o.Kind], o.Name)
	}
	s.pods = append(s.pods, s.named[model.RefPod]...)
	s.blocks = append(s.blocks, s.named[model.RefBlock]...)
	for i := range r.Races {
		if r.Races[i].Of(v) {
			s.races = append(s.races, r.Races[i])
		}
	}
	if dst, ok := model.FactOf[model.Ref](v.Facts, "destination"); ok && dst.Name != "" {
		s.blocks = append(s.blocks, dst.Name)
	}
	if r.History == nil {
		return s
	}
	events := r.History.Events
	s.claimants(events)
	for i := range events {
		e := &events[i]
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
	for i := range events {
		e := &events[i]
		if e.Kind == model.AddEnd && e.Step >= s.from && e.Step <= v.Step && s.holds(e) && s.ours(e.Network) && !slices.Contains(s.pods, e.Pod.String()) {
			s.pods = append(s.pods, e.Pod.String())
		}
	}
	s.assignments(r)
	return s
}

// claimants adds the pods whose containers the violation's handles are named
// after.
//
// Source: cni-plugin/internal/pkg/utils, GetHandleID (v3.31).
func (s *subject) claimants(events []model.Event) {
	for _, h := range s.named[model.RefHandle] {
		for i := range events {
			e := &events[i]
			if e.Container != "" && e.Step <= s.v.Step && strings.HasSuffix(h, "."+e.Container) && !slices.Contains(s.pods, e.Pod.String()) {
				s.pods = append(s.pods, e.Pod.String())
			}
		}
	}
}

// begin finds the step at which the timeline starts: with the oldest sandbox that is alive
// when the invariant breaks, or the last sandbox of a pod without a live one. Earlier
// sandboxes of a pod count only if the violation names no address.
func (s *subject) begin(events []model.Event) {
	type sandbox struct {
		pod   string
		step  int
		alive bool
	}
	sandboxes := map[string]*sandbox{} // by container
	last := map[string]string{}        // pod → container
	for _, e := range events {
		key := e.Pod.String()
		if e.Step > s.v.Step || !slices.Contains(s.pods, key) {
			continue
		}
		switch e.Kind {
		case model.SandboxUp:
			sandboxes[e.Container], last[key] = &sandbox{key, e.Step, true}, e.Container
		case model.SandboxDown:
			if l := sandboxes[e.Container]; l != nil {
				l.alive = slices.Contains(s.named[model.RefContainer], e.Container)
			}
		}
	}
	s.from = s.v.Step
	for id, l := range sandboxes {
		if l.alive || last[l.pod] == id || len(s.named[model.RefAddress]) == 0 {
			s.from = min(s.from, l.step)
		}
	}
	if len(sandboxes) == 0 {
		s.from = 0
	}
}

// holds reports whether the event assigns an address of the violation.
func (s *subject) holds(e *model.Event) bool {
	return slices.ContainsFunc(s.named[model.RefAddress], func(a string) bool {
		return slices.ContainsFunc(e.Addrs, func(x netip.Addr) bool { return x.String() == a })
	})
}

// ours reports whether a network is one of the violation. A pod's other interfaces do not
// matter.
func (s *subject) ours(network string) bool {
	named := s.named[model.RefNetwork]
	return len(named) == 0 || network == "" || slices.Contains(named, network)
}

// pod returns the pod of the violation that an actor works for, as its CNI plugin or in its
// kubelet, or "".
func (s *subject) pod(actor string) string {
	if p := s.podOf[actor]; p != "" {
		if slices.Contains(s.pods, p) {
			return p
		}
		return ""
	}
	id, _, _ := strings.Cut(actor, "~")
	for _, p := range s.pods {
		if strings.HasSuffix(id, "/"+p) {
			return p
		}
	}
	return ""
}

// mentions lists which kinds of a violation's objects a message concerns.
type mentions struct{ address, pod, block, handle, node, service bool }

func (m mentions) any() bool { return m.address || m.pod || m.block || m.handle }

// about returns which of the violation's objects a message concerns. If its effect is not
// decoded, the name in the request counts too.
func (s *subject) about(a *act.Act, asked *sim.Request) mentions {
	refs := a.Refs()
	if asked != nil && (a.Verb == "" || a.Bare) {
		refs = append(refs, model.Ref{Kind: model.RefAddress, Name: asked.Name}, model.Ref{Kind: model.RefHandle, Name: asked.Name})
		if asked.Namespace != "" {
			refs = append(refs, model.Ref{Kind: model.RefPod, Name: asked.Namespace + "/" + asked.Name})
		}
	}
	service := asked != nil && asked.Resource == "services" && slices.Contains(s.named[model.RefService], asked.Namespace+"/"+asked.Name)
	in := func(kind model.RefKind, names []string) bool {
		return slices.ContainsFunc(refs, func(r model.Ref) bool { return r.Kind == kind && slices.Contains(names, r.Name) })
	}
	return mentions{
		in(model.RefAddress, s.named[model.RefAddress]), in(model.RefPod, s.pods), in(model.RefBlock, s.blocks),
		in(model.RefHandle, s.named[model.RefHandle]), in(model.RefNode, s.named[model.RefNode]),
		service,
	}
}
