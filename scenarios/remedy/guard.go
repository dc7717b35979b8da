package remedy

import (
	"fmt"
	"net/netip"
	"strings"

	"ipamsim/model"
	"ipamsim/reports"
)

// Guard is a condition that must hold in the cluster when a command frees something. The
// command checks it first, and stops if it does not hold or cannot be checked: the pod may
// have started between the dump and the command.
type Guard struct {
	// Pod must not run. If Addr is set, Pod may run but must not have that address.
	Pod model.PodRef
	// Addr without Pod must not be an address of any pod.
	Addr netip.Addr
	// Node must not exist.
	Node string
}

// Say renders the condition: "if the pod shop/web-1 does not run".
func (g Guard) Say() string {
	switch {
	case g.Node != "":
		return "if the node " + g.Node + " does not exist"
	case g.Pod == (model.PodRef{}):
		return fmt.Sprintf("if no pod has %s", g.Addr)
	case g.Addr.IsValid():
		return fmt.Sprintf("if the pod %s does not have it", g.Pod)
	}
	return fmt.Sprintf("if the pod %s does not run", g.Pod)
}

// Before returns a command line that runs line only if the condition holds. A finished pod
// does not run, although it exists.
func (g Guard) Before(line string) string {
	const empty, lacks = `[ -z "$p" ]`, `! echo "$p" | grep -qwF %s`
	switch {
	case g.Node != "":
		return guarded("kubectl get node "+reports.Shell(g.Node)+" --ignore-not-found -o name", empty, line)
	case g.Pod == (model.PodRef{}):
		return guarded("kubectl get pods -A -o yaml", fmt.Sprintf(lacks, g.Addr), line)
	}
	selector := "metadata.name=" + g.Pod.Name + ",status.phase!=Succeeded,status.phase!=Failed"
	get := fmt.Sprintf("kubectl get pods -n %s --field-selector %s -o ", reports.Shell(g.Pod.Namespace), quoted(selector))
	if g.Addr.IsValid() {
		return guarded(get+"yaml", fmt.Sprintf(lacks, g.Addr), line)
	}
	return guarded(get+"name", empty, line)
}

// guarded runs line if the command get succeeds and its output, $p, passes a test.
func guarded(get, test, line string) string {
	return "p=$(" + get + ") && " + test + " && " + line
}

// quoted returns a text in single quotes, in which a shell expands nothing.
func quoted(s string) string { return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'" }

// Unmentioned returns a command line that runs line only if the output of get contains none
// of the names.
func Unmentioned(get string, names []string, line string) string {
	test := `! echo "$p" | grep -qF`
	for _, n := range names {
		test += " -e " + reports.Shell(n)
	}
	return guarded(get, test, line)
}

// Unlike returns a command line that runs line only if the output of get differs from text.
func Unlike(get, text, line string) string {
	return guarded(get, `[ "$p" != `+quoted(text)+" ]", line)
}
