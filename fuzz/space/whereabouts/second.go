package whereabouts

import (
	"slices"

	"ipamsim/fuzz/space"
	"ipamsim/scenarios"
)

// Second is Whereabouts as the second manager of a world, whose pods have addresses of another one, too.
type Second struct {
	w    *world
	nets []network
}

// Attach draws the networks.
func Attach(w *space.World) *Second {
	own := &world{World: w}
	return &Second{own, own.attachments()}
}

// Annotations draws the networks of a workload's pods.
func (s *Second) Annotations() map[string]string { return s.w.attached(s.nets) }

// Finish draws the background processes and uncommon settings, after everything else.
func (s *Second) Finish() {
	w, spec := s.w, &s.w.Doc.Spec
	const pass = "ip-reconciler"
	w.Reconcilers(pass)
	if !slices.ContainsFunc(spec.Reconcilers, func(r scenarios.Reconciler) bool { return r.Name == pass }) {
		spec.Settle.Duration, spec.Judge.LeakAfter.Duration = 0, 0 // no reconciler releases leaked addresses
	}
	if w.Chance(1, 4) {
		spec.Daemons = append(spec.Daemons, "pod-control-loop")
	}
	w.rarely()
}
