package remedy

import (
	"fmt"
	"strings"
	"time"

	"ipamsim/reports"
)

// Say asks the reader to check the controller that should have acted.
func (a *Advice) Say() string {
	out := fmt.Sprintf("check first: is %s running? It should %s", a.Controller.Name, a.Controller.Works)
	if a.After > 0 {
		out += " after " + span(a.After)
	}
	switch {
	case a.NoPods:
		return out + ". The dump has no pods: check its pods and their logs"
	case a.Pod.Name == "":
		return out + ". The dump has no pod of this controller"
	case a.Phase != "Running":
		return out + fmt.Sprintf(". Its pod %s is %s: check the logs", a.Pod, a.Phase)
	}
	return out + fmt.Sprintf(". Its pod %s is running: check the logs", a.Pod)
}

// Say reports whether the controller alone fixes the findings.
func (l *Left) Say() string {
	out := fmt.Sprintf("simulated: with the controller running, this is fixed within %s", span(l.Took))
	if !l.Gone {
		out = fmt.Sprintf("simulated: with the controller running, this is not fixed after %s", span(l.Took))
	}
	if len(l.New) > 0 {
		return out + fmt.Sprintf("; it causes %s (%s): %s", l.New[0].Invariant, l.New[0].Severity, reports.Clean(l.New[0].Message))
	}
	return out + "; no new findings"
}

// Commands returns commands that show the controller's pods and logs. They change nothing.
func (a *Advice) Commands() []string {
	out := []string{"kubectl get pods -A -l " + a.Controller.Label}
	if a.Pod.Name != "" {
		out = append(out, fmt.Sprintf("kubectl logs -n %s %s --since=24h | grep -i %s", reports.Shell(a.Pod.Namespace), reports.Shell(a.Pod.Name), a.Controller.Logs))
	}
	return out
}

// span renders a duration without zero units at its end: 15m, 1h30m.
func span(d time.Duration) string {
	s := d.String()
	for _, zero := range []string{"m0s", "h0m"} {
		if strings.HasSuffix(s, zero) {
			s = s[:len(s)-2]
		}
	}
	return s
}
