package invariant

import (
	"ipamsim/model"
	"ipamsim/model/route"
	"ipamsim/model/route/fib"
)

// BlackholedAddress is a pod that a part of the cluster cannot reach. Packets to it end in a more
// specific route, or have none, and no sender gets an error: a packet that is forwarded into a
// blackhole is dropped silently.
//
// Routes need time to spread, so a loss counts only if it lasts longer than the bound. A route over
// a dead machine counts only after its neighbours must have withdrawn it (route.Hold): until then a
// router that spreads flows loses some of them, whichever pod has the address. A loss does not
// count while a daemon on one of the two nodes that assigns the node's own addresses has been
// running undisturbed for less than the bound. A sandbox that is being deleted and a source without
// power do not count, and nothing counts while no route reflector has power: the view has no losses
// then.
var BlackholedAddress = define(Invariant{
	Name:     "blackholed-address",
	Severity: model.Critical,
	Phase:    Always,
	Doc:      "Every live node reaches the address of every live sandbox, and is answered, once routes had their time.",
	Kinds:    lossKinds(),
	// The code depends on where the packets come from.
	Cause: CauseRule{
		Start: FromWrite, Delayed: true, Write: WriteRule{Route: true},
		Identity: Identity{Code: noCode, Innermost: true},
	},
	Follows: []string{"affinity-mismatch", "block-owner", "overlapping-blocks", "unbacked-sandbox"},
	Effect:  "connections between that node and the pod time out",
	Keep:    KeepRoutes,
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
			if dst.sandbox.Node != l.On || silent(&v, dst.sandbox) || v.Truth.At-max(since, v.Held[l.From], v.Held[l.On]) <= l.Patience(v.Settings.BlackholeAfter) {
				continue
			}
			out = append(out, finding{
				code:    lossCode(l.Some, l.Back, l.How, l.At == l.From),
				objects: []model.Ref{addressName(dst), nodeName(l.From), swallower(&v, l), model.PodOf(dst.sandbox.Pod)},
				facts: []model.Fact{
					model.NewFact("from", nodeName(l.From)), model.NewFact("on", nodeName(dst.sandbox.Node)), model.NewFact("at", swallower(&v, l)),
					model.NewFact("since", since), model.NewFact("route", route.OneLine(l.Route)),
					model.NewFact("destination", destination(l)),
				},
			})
		}
	}
	return out
})

// Codes of BlackholedAddress if a blackhole route of the source node drops the packets to the
// address, or those of some flows.
const (
	DroppedAtSource     = "dropped-at-source"
	SomeDroppedAtSource = "some-flows-dropped-at-source"
)

// lossCode is where packets end, and whether all do: [some-flows-][reply-]END[-at-source],
// with one of lossEnds. At the source is on the node itself that cannot reach the
// address, where the routes are its own.
func lossCode(some, back bool, how fib.End, atSource bool) string {
	code := ""
	for _, e := range lossEnds {
		if e.how == how {
			code = e.code
		}
	}
	if back {
		code = "reply-" + code
	} else if atSource {
		code += "-at-source"
	}
	if some {
		code = "some-flows-" + code
	}
	return code
}

// lossEnds are how packets end.
var lossEnds = []struct {
	how  fib.End
	code string
}{
	{fib.Blackholed, "dropped"}, // by a blackhole route
	{fib.Unreachable, "no-route"},
	{fib.Looping, "routing-loop"},
	{fib.Dead, "dead-next-hop"},
}

func lossKinds() (out []Kind) {
	for _, end := range lossEnds {
		for _, some := range []bool{false, true} {
			for _, back := range []bool{false, true} {
				for _, atSource := range []bool{false, true} {
					if !back || !atSource {
						out = append(out, Kind{
							lossCode(some, back, end.how, atSource),
							lossVerb(some, back) + " {address} on {on} ({pod})[ since {since}]: " + route.Sentence(end.how, atSource),
						})
					}
				}
			}
		}
	}
	return out
}

// lossVerb describes which packets are lost.
func lossVerb(some, back bool) string {
	switch {
	case some && back:
		return "some flows of {from} get no answer from"
	case some:
		return "some flows of {from} do not reach"
	case back:
		return "{from} gets no answer from"
	}
	return "{from} cannot reach"
}

// swallower is the object where packets end: a node, or a router.
func swallower(v *View, l *route.Loss) model.Ref {
	if _, ok := v.Truth.Nodes[l.At]; ok {
		return nodeName(l.At)
	}
	return model.Ref{Kind: model.RefRouter, Name: l.At}
}

// destination is the destination of the route that drops the packets, usually a block; "" if no
// route matches.
func destination(l *route.Loss) model.Ref {
	if !l.Dst.IsValid() {
		return model.Ref{}
	}
	return model.BlockOf(l.Dst)
}
