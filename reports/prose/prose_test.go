package prose

import (
	"fmt"
	"testing"

	"ipamsim/model"
	"ipamsim/model/act"
	"ipamsim/sim"
	"ipamsim/sim/way"
)

// The managers' own tests show what their acts read like; here is what comes with any.
func TestAnswer(t *testing.T) {
	conflict := act.Act{Error: "update conflict: x\nmore", Outcome: act.Conflict}
	status := act.Act{Error: "Conflict", Status: 409, Outcome: act.Conflict}
	for _, c := range []struct {
		c         sim.Choice
		a         act.Act
		described bool
		want      string
	}{
		{sim.Choice{}, act.Act{}, false, ""},
		{sim.Choice{}, act.Act{Left: "7"}, true, " -> revision 7"},
		{sim.Choice{}, conflict, false, " -> update conflict: x"},
		{sim.Choice{}, conflict, true, ""},
		{sim.Choice{}, status, true, " -> 409 Conflict"},
		{sim.Choice{}, act.Act{Error: `Get "https://10.0.0.1/api": refused`}, false, " -> refused"},
		{sim.Choice{Outcome: sim.LoseReply, Op: sim.Op{Loses: way.Of(way.Timeout)}, Level: int(way.Timeout)}, act.Act{Left: "7"}, true, " -> FAULT lose-reply (timeout): applied, but the reply is lost"},
		{sim.Choice{Outcome: sim.FailBefore}, act.Act{}, true, " -> FAULT fail-before"},
	} {
		if got := Answer(&c.c, &c.a, c.described); got != c.want {
			t.Errorf("%v %+v: %q, want %q", c.c.Outcome, c.a, got, c.want)
		}
	}
}

// A list names a few and says how many there are, also where its beginning is left out.
func TestSome(t *testing.T) {
	var all []act.Thing
	for i := range 9 {
		all = append(all, act.Thing{Kind: act.Address, Name: fmt.Sprintf("10.0.0.%d", i), Owner: model.Ref{Kind: model.RefPod, Name: "a/b"}})
	}
	short := append([]act.Thing{{Kind: act.Others, Used: 4}}, all[4:]...)
	far := append([]act.Thing{{Kind: act.Others, Used: 1}}, all[1:]...)
	for _, c := range []struct {
		list []act.Thing
		want string
	}{
		{nil, "none"},
		{all[:2], "10.0.0.0, 10.0.0.1"},
		{all, "10.0.0.0, 10.0.0.1, 10.0.0.2, 10.0.0.3, 10.0.0.4, … 9 in all"},
		{short, "… 10.0.0.4, 10.0.0.5, 10.0.0.6, 10.0.0.7, 10.0.0.8"},
		{far, "… 10.0.0.1, 10.0.0.2, 10.0.0.3, 10.0.0.4, 10.0.0.5, … 9 in all"},
	} {
		if got := some(c.list, func(t *act.Thing) string { return t.Name }); got != c.want {
			t.Errorf("%q, want %q", got, c.want)
		}
	}
}
