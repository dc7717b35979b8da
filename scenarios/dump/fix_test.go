package dump_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"ipamsim/cmd/managers"
	"ipamsim/scenarios"
	"ipamsim/scenarios/dump"
	"ipamsim/scenarios/scenariotest"
	"ipamsim/sim/cluster"
)

// The steps that are printed for Wikimedia's staging cluster are taken one after the
// other, in a run of the real code that begins with that cluster: nothing is wrong
// afterwards, and the node that had no block has one.
func TestFix(t *testing.T) {
	c := read(t, "wikimedia.yaml")
	text, s, _ := scenario(t, c, dump.Options{})
	f := prove(t, c, s)
	if len(f.Shortages) != 1 || f.Results[f.Shortages[0].Problem-1].Best == nil {
		t.Fatalf("nothing is offered: %s", printed(f))
	}
	var do operator
	do.command("calicoctl ipam release --ip=10.64.75.114")
	for _, step := range f.Results[f.Shortages[0].Problem-1].Best.Steps {
		for _, line := range step.Commands() {
			do.command(line)
		}
	}
	do.pod("first-of-its-own", "kubestage1003.eqiad.wmnet")
	do.command("calicoctl ipam show --show-blocks")
	got, owners := do.run(t, text)
	if len(got) > 0 {
		t.Errorf("after the steps: %v", got)
	}
	if got := owners[f.Shortages[0].Spare[0].Block.String()]; got != "kubestage1003.eqiad.wmnet" {
		t.Errorf("%s is %q's", f.Shortages[0].Spare[0].Block, got)
	}
	if f.Together == nil || !f.Together.Safe() {
		t.Errorf("all steps together: %s", printed(f))
	}
}

// The obvious action, to delete the unreachable pods, has no effect while their nodes accept pods:
// the new pods borrow again.
func TestFixTooSimply(t *testing.T) {
	text, _, _ := scenario(t, read(t, "wikimedia.yaml"), dump.Options{})
	var do operator
	do.command("calicoctl ipam release --ip=10.64.75.114")
	do.delete("pods", "termbox", "termbox-staging-ce5ee0ad0-5fece")
	do.pod("again", "kubestage1003.eqiad.wmnet")
	do.delete("pods", "wikifeeds", "wikifeeds-production-3bfd19bb7-434c9")
	if got, _ := do.run(t, text); !slices.Equal(got, []string{"blackholed-address"}) {
		t.Errorf("got %v", got)
	}
}

// operator types fast, for what is unreachable is counted after ten seconds, and looks
// at blocks after the pods have had their time to go.
type operator struct {
	now   time.Duration
	steps []string
}

func (o *operator) do(format string, args ...any) {
	o.now += 100 * time.Millisecond
	o.steps = append(o.steps, fmt.Sprintf("  - {at: %s, %s}\n", o.now, fmt.Sprintf(format, args...)))
}

func (o *operator) delete(resource, namespace, name string) {
	if namespace != "" {
		namespace = "namespace: " + namespace + ", "
	}
	o.do("delete: {resource: %s, %sname: %s}", resource, namespace, name)
}

// pod makes one, on a node or wherever one takes it.
func (o *operator) pod(name, node string) {
	if node != "" {
		node = "nodeName: " + node + ", "
	}
	o.do("apply: {object: {apiVersion: v1, kind: Pod, metadata: {name: %s}, spec: {%scontainers: [{name: main, image: \"registry.example/web:1\"}]}}}", name, node)
}

// command is a line as a remedy has it. A pod that is deleted is made again by its
// Deployment.
func (o *operator) command(line string) {
	for _, one := range strings.Split(line, " && ") {
		w := strings.Fields(one)
		switch {
		case checks(one):
		case w[0] == "calicoctl":
			if w[2] == "show" {
				o.now += 40 * time.Second
			}
			o.do("command: {run: %q}", one)
		case w[1] == "cordon" || w[1] == "uncordon":
			for _, node := range w[2:] {
				o.do("cordon: {node: %s, undo: %t}", node, w[1] == "uncordon")
			}
		case w[1] == "delete" && w[2] == "pod":
			for _, name := range w[5:] {
				o.delete("pods", w[4], name)
			}
		case w[1] == "delete":
			o.delete(w[2], "", w[3])
		default:
			panic("an unknown command: " + one)
		}
	}
}

// run simulates the commands, and returns the invariants that are violated and the owner of each
// block at the end.
func (o *operator) run(t *testing.T, text string) (broken []string, owners map[string]string) {
	t.Helper()
	changed := strings.Replace(text, "\nspec:\n", "\nspec:\n  timeline:\n"+strings.Join(o.steps, ""), 1)
	changed = strings.Replace(changed, "until: 15s", "until: 2m", 1)
	s, err := managers.All().Parse("fixed.yaml", []byte(changed))
	if err != nil {
		t.Fatal(err)
	}
	r := scenariotest.Runner(t)
	rep, err := r.Run(context.Background(), s, scenarios.Options{End: func(c *cluster.Cluster) {
		owners = map[string]string{}
		if v, err := c.Checker.Snapshot(); err != nil {
			t.Error(err)
		} else {
			for _, p := range v.Record.Pools {
				owners[p.Range.String()] = p.Node
			}
		}
	}})
	if err != nil {
		t.Fatal(err)
	}
	for _, v := range rep.Violations {
		t.Logf("%s: %s", v.Invariant, v.Message)
		broken = append(broken, v.Invariant)
	}
	slices.Sort(broken)
	return slices.Compact(broken), owners
}
