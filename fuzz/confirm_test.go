package fuzz_test

import (
	"context"
	"os"
	"testing"

	"ipamsim/cmd/managers"
	"ipamsim/fuzz/cause"
	"ipamsim/fuzz/confirm"
	"ipamsim/fuzz/finding"
	"ipamsim/scenarios"
	"ipamsim/scenarios/scenariotest"
)

// foundIn returns the finding of a scenario's first violation without shrinking.
func foundIn(t *testing.T, r *scenarios.Runner, file string) *finding.Finding {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	s, err := managers.All().Parse(file, text)
	if err != nil {
		t.Fatal(err)
	}
	rep, err := r.Run(context.Background(), s, scenarios.Options{Store: scenarios.Memory})
	if err != nil {
		t.Fatal(err)
	}
	v := &rep.Violations[0]
	f := finding.New(s, rep, v, nil, cause.Of(rep, v))
	if f.YAML, err = s.Finding(rep); err != nil {
		t.Fatal(err)
	}
	return f
}

// A failure of upstream's code is confirmed, with a file that replays. A failure that only the
// simple controllers cause is not confirmed, which is reported as text.
func TestConfirm(t *testing.T) {
	r := scenariotest.Runner(t)
	for _, x := range []struct {
		file string
		want finding.Verdict
	}{
		{"testdata/confirm/upstreams.yaml", finding.Confirmed},
		{"testdata/confirm/simples.yaml", finding.NotConfirmed},
	} {
		t.Run(x.file, func(t *testing.T) {
			f := foundIn(t, r, x.file)
			var err error
			f.Real, err = confirm.Try(context.Background(), r, f, confirm.Options{Runs: 8})
			if err != nil || f.Real.Verdict != x.want {
				t.Fatalf("%v, %+v: %s", err, f.Real, f.Sentence)
			}
			t.Log(f.RealText())
			if x.want != finding.Confirmed {
				return
			}
			s, err := managers.All().Parse(finding.RealFile(f.Fingerprint), f.Real.YAML)
			if err != nil {
				t.Fatal(err)
			}
			rep, err := r.Run(context.Background(), s, scenarios.Options{Recorded: true})
			if err != nil || rep.Digest != s.Doc.Spec.Schedule.Digest || f.In(rep) == nil || s.Doc.Spec.Controllers != "real" {
				t.Errorf("%v: the file does not show it: %+v", err, rep.Violations)
			}
			real := *f
			real.YAML = f.Real.YAML
			if again, err := confirm.Try(context.Background(), r, &real, confirm.Options{}); err != nil || again.Verdict != "" {
				t.Errorf("what was made under them is tried: %+v, %v", again, err)
			}
		})
	}
}

// A finding that was not tried has no text.
func TestUnconfirmedHasNoText(t *testing.T) {
	if text := (&finding.Finding{}).RealText(); text != "" {
		t.Error(text)
	}
}
