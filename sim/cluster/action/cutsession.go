package action

import (
	"context"
	"strings"

	"ipamsim/model"
	"ipamsim/model/route"
	"ipamsim/sim/cluster"
)

// CutSession takes the BGP session between two speakers down: nodes, or routers
// as tor1, tor2. Without B all sessions of A. The data path itself stays.
type CutSession struct {
	A    string `json:"a" jsonschema:"required"`
	B    string `json:"b,omitempty"`
	Undo bool   `json:"undo,omitempty"` // let it come up again
}

// Do takes the session down or up.
func (a *CutSession) Do(_ context.Context, o *cluster.Operator) error {
	s := route.Session{A: a.A, B: a.B}
	return o.Cluster.Checker.Session(s, !a.Undo, a.A, a.String())
}

func (a *CutSession) String() string {
	verb := "cut"
	if a.Undo {
		verb = "mend"
	}
	if a.B == "" {
		return verb + " the BGP sessions of " + a.A
	}
	return verb + " the BGP session " + a.A + " - " + a.B
}

var cutSession = define(Kind{
	Name: "cutSession", Class: model.InjectedFault, Stops: model.StopsMachine,
	Doc:     "The BGP sessions of a node, or one of them, go down.",
	Hazards: []Hazard{{Name: "cutSession", Doc: "the BGP sessions of a node are lost for a while", Named: true, Needs: routed, Plan: undone(func(n string, undo bool) cluster.Action { return &CutSession{A: n, Undo: undo} })}},
}, func(c Checker, a *CutSession) {
	field, problem := route.CheckSessions("", []route.Session{{A: a.A, B: a.B}}, c.Nodes())
	if _, end, ok := strings.Cut(field, "."); ok {
		c.Bad(problem != "", Part{end}, "%s", problem)
	}
})
