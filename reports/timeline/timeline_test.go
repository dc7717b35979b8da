package timeline

import (
	"strings"
	"testing"
	"unicode/utf8"

	"ipamsim/reports"
	"ipamsim/reports/layout"
	"ipamsim/reports/storytest"
)

// TestTimelineFits: it is read on a terminal, at one look.
func TestTimelineFits(t *testing.T) {
	for _, r := range []*reports.Report{storytest.Issue162(), storytest.Crowded(), storytest.Staging()} {
		text := Of(r, &r.Violations[0])
		if again := Of(r, &r.Violations[0]); again != text {
			t.Errorf("%s: two renderings differ", r.Scenario)
		}
		lines := strings.Split(strings.TrimSuffix(text, "\n"), "\n")
		if len(lines) > linesMax {
			t.Errorf("%s: %d lines, want at most %d", r.Scenario, len(lines), linesMax)
		}
		for _, l := range lines {
			if n := utf8.RuneCountInString(l); n > layout.Width {
				t.Errorf("%s: %d columns, want at most %d: %s", r.Scenario, n, layout.Width, l)
			}
		}
	}
}

// TestBlockOwnerIsInTheStory: who claimed the block is why the address is lost,
// although that was long before there was a pod, and what others were given from
// it is not.
func TestBlockOwnerIsInTheStory(t *testing.T) {
	r := storytest.Staging()
	for _, c := range []struct {
		violation int
		want, not []string
	}{
		{0, []string{"claims block 10.64.75.0/26 for kubestage1001", "10.64.75.0 is handed out to default/echo-c on kubestage1003"},
			[]string{"claims block 10.64.75.64/26", "default/echo-b", "10.64.75.64 is", "counts 1", "ip route"}},
		{1, []string{"claims block 10.64.75.64/26 for kubestage1002", "10.64.75.0 for default/echo-c"}, []string{"counts 1"}},
	} {
		v := &r.Violations[c.violation]
		text := strings.Join(strings.Fields(strings.ReplaceAll(Of(r, v), "|", "")), " ")
		for _, w := range c.want {
			if !strings.Contains(text, w) {
				t.Errorf("%s: no %q in\n%s", v.Invariant, w, Of(r, v))
			}
		}
		for _, n := range c.not {
			if strings.Contains(text, n) {
				t.Errorf("%s: %q in\n%s", v.Invariant, n, Of(r, v))
			}
		}
	}
}
