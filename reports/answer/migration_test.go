package answer_test

import (
	"bytes"
	"net/netip"
	"strings"
	"testing"
	"time"

	"ipamsim/model/capacity"
	"ipamsim/model/capacity/calico"
	"ipamsim/model/capacity/workload"
	reference "ipamsim/model/reference/calico"
	"ipamsim/reports/answer"
	answercalico "ipamsim/reports/answer/calico"
	"ipamsim/reports/answer/render"
)

// moved is a plan of a cluster that runs: twelve pairs are blackholed at its
// beginning, and stay so as it is; a migration ends after three hours, or never.
func moved(end time.Duration) *answer.Question {
	p := &answer.Question{Name: "moved", Horizon: 10 * day, Repeats: 12, Minimise: "routes", From: "cluster.yaml", Manager: answercalico.Answers, Require: []answer.Bound{{Measure: "blackholed", Most: 0}}}
	pool := reference.Pool{Name: "pods", Prefix: netip.MustParsePrefix("10.0.0.0/24"), BlockBits: 28}
	steps := []workload.Step{calico.OfPool(calico.DeletePool, pool, calico.Routing{}), calico.OfPool(calico.CreatePool, pool, calico.Routing{})}
	for _, name := range []string{"as it is", "moved"} {
		c := answer.Trials{Option: name, Cluster: &capacity.Cluster{Manager: &calico.Config{}}}
		if name == "moved" {
			c.Cluster.Migration = steps
		}
		for range 12 {
			l := &capacity.Course{Since: time.Hour, Exhausted: capacity.Never}
			if name == "moved" {
				l.Migration = &capacity.Migration{End: end, Steps: []capacity.StepDone{{End: time.Hour, Pods: 40}, {At: time.Hour, End: end, Refused: 9, Why: "blocks of /26"}}}
				l.Migration.Worst.Blackholed = 30
				if l.Since = end; end != capacity.Never {
					l.Since += time.Hour
				}
			}
			for i := range 11 {
				s := capacity.Sample{At: time.Duration(i) * day, Pods: 40, Size: 256, Routes: 5, Blackholed: 12}
				if name == "moved" && end != capacity.Never && i > 0 {
					s.Blackholed = 0
				}
				l.Samples = append(l.Samples, s)
			}
			c.Courses = append(c.Courses, l)
		}
		p.Cells = append(p.Cells, c)
	}
	return p
}

// Bounds are of the time after the migration; what was there at the beginning, and
// what was seen on the way, is reported separately.
func TestBoundsFromATimeOn(t *testing.T) {
	a := render.Of(moved(3 * time.Hour))
	if r := a.Recommended[0]; r.Outcome != answer.Take || len(r.Rows) != 1 || r.Rows[0] != 1 {
		t.Errorf("recommended: %s", r.Text)
	}
	row := a.Rows[1]
	if f := row.Figures["blackholed"]; f.Value != 0 || row.SinceHours != 4 || row.Migration.Done != 12 || row.Migration.Restarted != 40 || row.Migration.Blackholed != 30 {
		t.Errorf("moved: %+v, since %v h, %+v", f, row.SinceHours, row.Migration)
	}
	if len(a.Beginning) != 1 || a.Beginning[0] != (answer.Beginning{Measure: "blackholed", Value: 12}) {
		t.Errorf("at the beginning: %+v", a.Beginning)
	}
	checkTexts(t, a, "Reported separately, at the start: blackholed 12.", "from 1 h to 4 h on", "It takes 3 h (median) and restarts 40 pods", "30 pairs blackholed", "create IPPool pods, 10.0.0.0/24 in blocks of /28")
}

// An option that cannot be carried out meets nothing, whatever else is measured.
func TestNotCarriedOut(t *testing.T) {
	a := render.Of(moved(capacity.Never))
	if r := a.Recommended[0]; r.Outcome != answer.NoneMeets || strings.Contains(r.Text, "Take") {
		t.Errorf("recommended: %s", r.Text)
	}
	if row := a.Rows[1]; row.Figures["unfinished"].Value != 1 || row.Migration.Done != 0 || row.Migration.Steps[1].Stuck != 12 {
		t.Errorf("moved: %+v", row)
	}
	checkTexts(t, a, "In 12 of 12 trials it stopped at step 2", "which was refused until the end: blocks of /26")
}

// checkTexts compares the text of an answer, without the ends of its lines, to what it says.
func checkTexts(t *testing.T, a *render.Answer, parts ...string) {
	t.Helper()
	var b, page bytes.Buffer
	if err := a.Text(&b); err != nil {
		t.Fatal(err)
	}
	if err := a.Page(&page); err != nil {
		t.Fatal(err)
	}
	text := strings.Join(strings.Fields(b.String()), " ")
	for _, s := range parts {
		if !strings.Contains(text, s) {
			t.Errorf("no %q in\n%s", s, b.String())
		}
		if !strings.Contains(page.String(), s) {
			t.Errorf("the page does not say %q", s)
		}
	}
}
