package worker

import (
	"fmt"
	"strings"

	"ipamsim/fuzz/campaign/queue"
	"ipamsim/fuzz/cause"
	"ipamsim/fuzz/finding"
	"ipamsim/fuzz/process"
	"ipamsim/model"
	"ipamsim/model/invariant"
	"ipamsim/scenarios"
)

// CrashFinding returns the finding of a confirmed death: the scenario, to be run again.
func CrashFinding(d *queue.Death, how *process.Death, spec queue.Spec, sc *scenarios.Scenario) (*finding.Finding, error) {
	upstream := sc.Upstream()
	f := *sc
	s := &f.Doc.Spec
	s.Seed = &d.Seed
	if spec.Strategy != "" {
		s.Strategy = spec.Strategy
	}
	s.Expect, s.Schedule = &scenarios.Expect{Violations: []string{how.Invariant}}, nil
	body, err := f.YAML()
	if err != nil {
		return nil, err
	}
	sentence := fmt.Sprintf("The process died in the middle of the run: %s.", d.Cause)
	if how.Invariant == invariant.Stuck.Name {
		sentence = fmt.Sprintf("The run never ended: %s.", d.Cause)
	}
	var head strings.Builder
	fmt.Fprintf(&head, "# %s\n# Upstream: %s\n# Run it: ipamsim run FILE\n#\n", sentence, upstream)
	lines := strings.Split(strings.TrimSpace(how.Text), "\n")
	for _, l := range lines[:min(len(lines), crashReportMax)] {
		fmt.Fprintf(&head, "# %s\n", strings.Map(printable, l))
	}
	why := cause.Cause{Invariant: how.Invariant, Trigger: cause.NoFault, Links: []cause.Link{{Role: cause.Crashed, Functions: how.Shape}}}
	return &finding.Finding{
		Fingerprint: why.Fingerprint(), Invariant: how.Invariant, Severity: model.Critical, Upstream: upstream, Died: true,
		Cause: why, Sentence: sentence, YAML: append([]byte(head.String()), body...),
	}, nil
}

// crashReportMax is the number of lines of a traceback at the top of a finding.
const crashReportMax = 60

func printable(r rune) rune {
	if r == '\t' {
		return ' '
	}
	if r < ' ' || r == 0x7f {
		return -1
	}
	return r
}
