package dump_test

import (
	"context"
	"ipamsim/cmd/managers"
	"ipamsim/scenarios/dump"
	"ipamsim/scenarios/dump/diagnosis"
	"ipamsim/scenarios/scenariotest"
	"math/rand/v2"
	"os"
	"strings"
	"testing"
)

func TestZZ(t *testing.T) {
	all := wholes(t)
	rng := rand.New(rand.NewPCG(1, 298))
	w := all[rng.IntN(len(all))]
	p := w.part(rng)
	c := dump.New(managers.All())
	for _, f := range p.files {
		if err := c.Read(f.name, strings.NewReader(f.text), nil); err != nil {
			t.Fatal(err)
		}
	}
	text, report, _ := c.Scenario(dump.Options{})
	c.Forget()
	s, _ := managers.All().Parse("x", text)
	r := scenariotest.Runner(t)
	v, _ := r.Look(context.Background(), s)
	f := diagnosis.Of(c, v, true)
	f.Write(os.Stdout)
	for _, p := range v.Record.Pools {
		t.Log(p.Range, p.Name, p.Node)
	}
	t.Log(report.Managers)
	for _, c := range v.Record.Claims {
		t.Log(c.Addr, c.Pod, c.Container, c.Pool)
	}
	for _, f := range p.files {
		if strings.Contains(f.name, "get-pods") {
			i := strings.Index(f.text, "10-250-0-0-26")
			t.Log(f.text[max(0, i-300) : i+2500])
		}
	}
}
