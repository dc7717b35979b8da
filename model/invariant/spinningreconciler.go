package invariant

import (
	"time"

	"ipamsim/model"
)

// Spin is what background processes of the manager do again and again without any progress: one
// that sends the same request without a pause while nothing that it writes changes
// anything, or one or several that change a row of the record back and forth.
type Spin struct {
	Actors  []string    // sorted
	Request string      // the most frequent request; "" if the violation concerns Row
	Row     []model.Ref // objects of the row, sorted; empty if the violation concerns Request
	Times   int         // within SpinWindow
	Since   time.Duration
}

// A process spins if it has sent one request SpinTimes in each SpinWindow of SpinFor, and changed
// nothing. No manager polls that often: the shortest period is half a second. Processes undo each
// other's work if they have created the same row UndoTimes in each of these windows: nothing in a
// cluster is created and deleted twice a second under one name.
const (
	SpinWindow = 10 * time.Second
	SpinTimes  = 100
	SpinFor    = 30 * time.Second
	UndoTimes  = 20
)

// Codes of SpinningReconciler.
const (
	sameRequest = "same-request"
	Undone      = "undone"
)

// ifUndone: the links show the repeated requests.
func ifUndone(code string) string {
	if code == Undone {
		return code
	}
	return ""
}

// SpinningReconciler is a load on the datastore that grows with the cluster and has no use.
var SpinningReconciler = define(Invariant{
	Name:     "spinning-reconciler",
	Severity: model.Minor,
	Phase:    Always,
	Doc:      "No reconciler sends the same requests again and again without a pause and without changing anything, and none undoes again and again what it or another one has written.",
	Kinds: []Kind{
		{sameRequest, "{actor} has sent \"{request}\" {times} times within {window}, as it has since {since}, and has changed nothing"},
		{Undone, "{actor} wrote[ {address}][ {block}][ {reservation}][ node port {nodeport}][ of {pool}][ for {pod}][ for {service}][ for node {node}] {times} times within {window}, and each time it was undone, as it has been since {since}"},
	},
	Cause: CauseRule{Start: FromRequests, Identity: Identity{Code: ifUndone}},
}, func(v View) []finding {
	var out []finding
	for _, s := range v.Spins {
		f := finding{code: sameRequest, facts: []model.Fact{model.NewFact("times", s.Times), model.NewFact("window", SpinWindow), model.NewFact("since", s.Since)}}
		for _, a := range s.Actors {
			f.objects = append(f.objects, actorName(a))
		}
		if s.Row != nil {
			f.code, f.objects = Undone, append(f.objects, s.Row...)
		} else {
			f.facts = append(f.facts, model.NewFact("request", s.Request))
		}
		out = append(out, f)
	}
	return out
})
