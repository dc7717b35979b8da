package remedy

import (
	"fmt"
	"net/netip"
	"strings"

	"ipamsim/model"
	"ipamsim/reports"
)

// Guard is what must be so in the cluster when a command is run that frees something. The
// command looks first, and stops if it is not so, or if nothing can be read: between the dump
// and the command, the pod may have started.
type Guard struct {
	// Pod must not run. With Addr, it may run, and must not have this address.
	Pod model.PodRef
	// Addr alone must not be an address of any pod.
	Addr netip.Addr
	// Node must not exist.
	Node string
}

// Say is what must be so, in words: "if the pod shop/web-1 does not run".
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

// Before is a command line that runs another one only if it is so. A pod that has finished
// does not run, though it is there.
func (g Guard) Before(line string) string {
	const empty, lacks = `[ -z "$p" ]`, `! echo "$p" | grep -qwF %s`
	switch {
	case g.Node != "":
		return looked("kubectl get node "+reports.Shell(g.Node)+" --ignore-not-found -o name", empty, line)
	case g.Pod == (model.PodRef{}):
		return looked("kubectl get pods -A -o yaml", fmt.Sprintf(lacks, g.Addr), line)
	}
	selector := "metadata.name=" + g.Pod.Name + ",status.phase!=Succeeded,status.phase!=Failed"
	get := fmt.Sprintf("kubectl get pods -n %s --field-selector %s -o ", reports.Shell(g.Pod.Namespace), quoted(selector))
	if g.Addr.IsValid() {
		return looked(get+"yaml", fmt.Sprintf(lacks, g.Addr), line)
	}
	return looked(get+"name", empty, line)
}

// looked runs a line if a command succeeds and what it prints, $p, passes a test.
func looked(get, test, line string) string {
	return "p=$(" + get + ") && " + test + " && " + line
}

// quoted is a text that a shell takes as it stands, whatever it may expand.
func quoted(s string) string { return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'" }

// Unmentioned is a command line that runs another one only if what a command prints mentions
// none of some names.
func Unmentioned(get string, names []string, line string) string {
	test := `! echo "$p" | grep -qF`
	for _, n := range names {
		test += " -e " + reports.Shell(n)
	}
	return looked(get, test, line)
}

// Unlike is a command line that runs another one only if a command prints something else than
// a text.
func Unlike(get, text, line string) string {
	return looked(get, `[ "$p" != `+quoted(text)+" ]", line)
}
