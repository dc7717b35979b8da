package invariant

import (
	"fmt"

	"ipamsim/model"
	"ipamsim/model/route"
)

// BlackholedAddress is a pod that part of the cluster cannot talk to. Packets to
// it end in a route that knows better, or nowhere, and nobody is told: a packet
// that is forwarded into a blackhole is lost in silence.
//
// Routes need time to spread, so a loss counts only when it lasts for longer
// than the bound, and a way over a dead machine only when its neighbours must have
// given it up (route.Hold): until then a router that spreads flows loses some of
// them, whoever has which address. A sandbox on its way out and a source without power do not
// count.
var BlackholedAddress = define(Invariant{
	Name:     "blackholed-address",
	Severity: model.Critical,
	Phase:    Always,
	Doc:      "Every live node reaches the address of every live sandbox, and is answered, once routes had their time.",
}, func(v View) []finding {
	if v.Settings.BlackholeAfter <= 0 || len(v.Losses) == 0 {
		return nil
	}
	var out []finding
	h := hold(v)
	for i := range v.Losses {
		l := &v.Losses[i]
		if source, ok := v.Truth.Nodes[l.From]; ok && !source.Up {
			continue
		}
		for j := h.of(l.To); j >= 0; j = h.list[j].same {
			dst := &h.list[j]
			since := max(l.Since, dst.attachment.Since)
			if dst.sandbox.Node != l.On || silent(&v, dst.sandbox) || v.Truth.At-since <= l.Patience(v.Settings.BlackholeAfter) {
				continue
			}
			out = append(out, finding{
				code: lossCode(l),
				message: fmt.Sprintf("%s %s on %s (%s) since %s: %s",
					verdict(l), l.To, dst.sandbox.Node, dst.sandbox.Pod, clock(since), l.Why()),
				objects: []model.Ref{addressName(dst), nodeName(l.From), swallower(&v, l), model.PodOf(dst.sandbox.Pod)},
			})
		}
	}
	return out
})

// lossCode is where packets end, and whether all do: [some-flows-][reply-]END[-at-source],
// with one of lossEnds. At the source is on the node itself that cannot reach the
// address, where the routes are its own.
func lossCode(l *route.Loss) string {
	code := lossEnds[l.How]
	if l.Back {
		code = "reply-" + code
	} else if l.At == l.From {
		code += "-at-source"
	}
	if l.Some {
		code = "some-flows-" + code
	}
	return code
}

// lossEnds are the codes of how packets end.
var lossEnds = map[route.End]string{
	route.Blackholed:  "dropped", // by a blackhole route
	route.Unreachable: "no-route",
	route.Looping:     "routing-loop",
	route.Dead:        "dead-next-hop",
}

// verdict says who cannot reach.
func verdict(l *route.Loss) string {
	switch {
	case l.Some && l.Back:
		return "some flows of " + l.From + " get no answer from"
	case l.Some:
		return "some flows of " + l.From + " do not reach"
	case l.Back:
		return l.From + " gets no answer from"
	}
	return l.From + " cannot reach"
}

// swallower is the object where packets end: a node, or a router.
func swallower(v *View, l *route.Loss) model.Ref {
	if _, ok := v.Truth.Nodes[l.At]; ok {
		return nodeName(l.At)
	}
	return model.Ref{Kind: model.RefRouter, Name: l.At}
}
