package plan_test

import (
	"os"
	"strings"
	"testing"

	"ipamsim/cmd/managers"
	"ipamsim/reports/answer"
	"ipamsim/reports/answer/render"
	"ipamsim/scenarios/plan"
	"ipamsim/sim/longtest"
)

// README.md's plan of an imported cluster runs as printed, from a dump to an answer that can be met:
// existing problems of the cluster are reported separately, and the migration to the recommended
// option is simulated.
func TestReadmePlanOfAnImport(t *testing.T) {
	longtest.Skip(t)
	readme, err := os.ReadFile("README.md")
	if err != nil {
		t.Fatal(err)
	}
	_, text, found := strings.Cut(string(readme), "A plan with `from: cluster.yaml` begins with it:\n\n```yaml\n")
	text, _, closed := strings.Cut(text, "```\n")
	if !found || !closed {
		t.Fatal("the README has no plan of an import")
	}
	cluster := wikimedia(t)
	p, err := plan.Parse(managers.All(), "staging.yaml", []byte(text), func(string) ([]byte, error) { return cluster, nil })
	if err != nil {
		t.Fatal(err)
	}
	asks := lived(t, p, p.Doc.Spec.Repeats)
	a := render.Of(asks)
	best := a.Recommended[0]
	if best.Outcome != answer.Take || best.Rows[0] == 0 {
		t.Fatalf("%s", best.Text)
	}
	if m := a.Rows[best.Rows[0]].Migration; m == nil || m.Done != p.Doc.Spec.Repeats {
		t.Errorf("the way to %s: %+v", a.Rows[best.Rows[0]].Name, m)
	}
	if len(a.Beginning) == 0 || a.Rows[0].Figures["blackholed"].Value == 0 {
		t.Errorf("nothing is wrong with the cluster at the beginning: %+v", a.Beginning)
	}
}
