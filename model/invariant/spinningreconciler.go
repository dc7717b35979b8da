package invariant

import (
	"time"

	"ipamsim/model"
)

// Spin is a background process of the manager that asks for the same again and again
// without a pause, while nothing that it writes changes anything.
type Spin struct {
	Actor   string
	Request string // what it has asked for most often
	Times   int    // within SpinWindow
	Since   time.Duration
}

// A process spins that has asked for one thing SpinTimes in each SpinWindow of
// SpinFor, and changed nothing all the while. No poll of either manager comes near:
// the shortest period of theirs is half a second.
const (
	SpinWindow = 10 * time.Second
	SpinTimes  = 100
	SpinFor    = 30 * time.Second
)

// SpinningReconciler is a load on the datastore that grows with the cluster and does
// nobody any good.
var SpinningReconciler = define(Invariant{
	Name:     "spinning-reconciler",
	Severity: model.Minor,
	Phase:    Always,
	Doc:      "No reconciler sends the same requests again and again without a pause and without changing anything.",
	Kinds:    []Kind{{"", "{actor} has sent \"{request}\" {times} times within {window}, as it has since {since}, and has changed nothing"}},
}, func(v View) []finding {
	var out []finding
	for _, s := range v.Spins {
		out = append(out, finding{
			objects: []model.Ref{actorName(s.Actor)},
			facts: []model.Fact{
				model.NewFact("request", s.Request), model.NewFact("times", s.Times),
				model.NewFact("window", SpinWindow), model.NewFact("since", s.Since),
			},
		})
	}
	return out
})
