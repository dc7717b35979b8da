package campaign

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strings"

	"ipamsim/fuzz/cause"
	"ipamsim/fuzz/finding"
	"ipamsim/model"
	"ipamsim/scenarios"
)

// finding is what a confirmed death comes to: the world that it happened in, to
// be run once more.
func (d *Death) finding(spec Spec, sc *scenarios.Scenario) (*finding.Finding, error) {
	upstream := sc.Upstream()
	f := *sc
	s := &f.Doc.Spec
	s.Seed = &d.Seed
	if spec.Strategy != "" {
		s.Strategy = spec.Strategy
	}
	s.Expect, s.Schedule = &scenarios.Expect{Violations: []string{d.how.Invariant}}, nil
	body, err := f.YAML()
	if err != nil {
		return nil, err
	}
	sentence := fmt.Sprintf("The process died in the middle of the run: %s.", d.Cause)
	if d.how.Invariant == "stuck" {
		sentence = fmt.Sprintf("The run never ended: %s.", d.Cause)
	}
	var head strings.Builder
	fmt.Fprintf(&head, "# %s\n# Upstream: %s\n# Run it: ipamsim run FILE\n#\n", sentence, upstream)
	lines := strings.Split(strings.TrimSpace(d.how.Text), "\n")
	for _, l := range lines[:min(len(lines), crashReportMax)] {
		fmt.Fprintf(&head, "# %s\n", strings.Map(printable, l))
	}
	why := cause.Cause{Invariant: d.how.Invariant, Label: cause.NoFault, Links: []cause.Link{{Role: cause.Crashed, Functions: d.how.Shape}}}
	return &finding.Finding{
		Fingerprint: why.Fingerprint(), Invariant: d.how.Invariant, Severity: model.Critical, Upstream: upstream,
		Cause: why, Sentence: sentence, YAML: append([]byte(head.String()), body...),
	}, nil
}

// crashReportMax lines of a traceback stand at the top of a finding.
const crashReportMax = 60

// digest is 12 hexadecimal digits.
func digest(b []byte) string {
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:6])
}

func printable(r rune) rune {
	if r == '\t' {
		return ' '
	}
	if r < ' ' || r == 0x7f {
		return -1
	}
	return r
}
