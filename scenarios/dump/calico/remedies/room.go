package remedies

import (
	"fmt"

	"ipamsim/model"
	"ipamsim/scenarios"
	"ipamsim/scenarios/dump/diagnosis"
	"ipamsim/scenarios/remedy"
	"ipamsim/sim/cluster/action"
)

// strictCaution is what the run shows only of the nodes that are there.
//
// Source: libcalico-go/lib/ipam, SetIPAMConfig, which refuses a limit without
// strictAffinity; autoAssign, which does not borrow with it (v3.31).
const strictCaution remedy.Caution = "calicoctl accepts a limit only with strictAffinity: a node that cannot claim a block then assigns no address, instead of borrowing one"

// room is for pods that wait for an address of Calico's.
func room(d *diagnosis.Drafts, n *model.Network, node string, _ []model.PodRef) (try []remedy.Remedy, decide string) {
	if n.Blocks == nil {
		return nil, ""
	}
	if most := diagnosis.Limit(d.View, n, node); most > 0 {
		try = []remedy.Remedy{{Steps: []remedy.Step{raise{2 * most}}, Cautions: []remedy.Caution{strictCaution}}}
		return try, "an IPPool with larger blocks (spec.blockSize), which gives each node more addresses with the same number of blocks"
	}
	return nil, "another IPPool for the node: choose a range that is free in your network; ipamsim plan compares ranges and block sizes"
}

// raise raises the limit of blocks of a node.
type raise struct{ Most int }

// Say says to what.
func (r raise) Say() string {
	return fmt.Sprintf("raise the limit to %d blocks per node, with strictAffinity", r.Most)
}

func (r raise) line() string {
	return fmt.Sprintf("calicoctl ipam configure --strictaffinity=true --max-blocks-per-host=%d", r.Most)
}

// Commands is calicoctl ipam configure.
func (r raise) Commands() []string { return []string{r.line()} }

// Perform executes it.
func (r raise) Perform(s *remedy.Script) {
	s.Do(scenarios.Event{Action: &action.Command{Run: r.line()}})
}
