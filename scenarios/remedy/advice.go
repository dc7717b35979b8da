package remedy

import (
	"fmt"

	"ipamsim/reports"
)

// Say asks whether the process runs that should have done this.
func (a *Advice) Say() string {
	out := fmt.Sprintf("check first: is %s running? It should %s", a.Controller.Name, a.Controller.Works)
	if a.After > 0 {
		out += fmt.Sprintf(" after %s", a.After)
	}
	switch {
	case a.Unsaid:
		return out + ". The dump has no pods: see its pods and their logs"
	case a.Pod.Name == "":
		return out + ". The dump has no pod of it"
	case a.Phase != "Running":
		return out + fmt.Sprintf(". Its pod %s is %s: see the logs", a.Pod, a.Phase)
	}
	return out + fmt.Sprintf(". Its pod %s runs: see the logs", a.Pod)
}

// Say says what comes of it.
func (l *Left) Say() string {
	out := fmt.Sprintf("simulated: with them running this is gone within %s", l.Took)
	if !l.Gone {
		out = fmt.Sprintf("simulated: with them running this is still so after %s", l.Took)
	}
	if len(l.New) > 0 {
		return out + fmt.Sprintf(", and they bring %s (%s): %s", l.New[0].Invariant, l.New[0].Severity, reports.Clean(l.New[0].Message))
	}
	return out + ", nothing new"
}

// Commands show whether it runs, and its logs. They change nothing.
func (a *Advice) Commands() []string {
	out := []string{"kubectl get pods -A -l " + a.Controller.Label}
	if a.Pod.Name != "" {
		out = append(out, fmt.Sprintf("kubectl logs -n %s %s --since=24h | grep -i %s", reports.Shell(a.Pod.Namespace), reports.Shell(a.Pod.Name), a.Controller.Logs))
	}
	return out
}
