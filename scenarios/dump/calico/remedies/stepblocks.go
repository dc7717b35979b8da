package remedies

import (
	"encoding/json"
	"fmt"
	"net/netip"
	"time"

	"ipamsim/reports"
	"ipamsim/scenarios"
	"ipamsim/scenarios/dump/calico"
	"ipamsim/scenarios/remedy"
	"ipamsim/sim/cluster/action"
)

const (
	blocksResource     = "ipamblocks.crd.projectcalico.org"
	affinitiesResource = "blockaffinities.crd.projectcalico.org"
	handlesResource    = "ipamhandles.crd.projectcalico.org"
)

// check verifies that blocks are empty, right before they are deleted.
type check struct{ Blocks []netip.Prefix }

// Say describes the expected output.
func (c check) Say() string {
	return fmt.Sprintf("continue only if 0 addresses of %s are in use now: if the block is deleted with an address in use, Calico creates it again and assigns that address to another pod (scenarios/w4-repair-too-early.yaml)", remedy.Some(c.Blocks))
}

// Commands is calicoctl ipam show.
func (c check) Commands() []string { return []string{"calicoctl ipam show --show-blocks"} }

// Aside marks a step that only reads.
func (check) Aside() {}

func (c check) Perform(s *remedy.Script) {
	s.Do(scenarios.Event{Action: &action.Command{Run: c.Commands()[0]}})
	for _, b := range c.Blocks {
		s.Empty(b)
	}
}

// giveBack takes an empty block from its node, with the affinity if there is one.
type giveBack struct {
	Block     netip.Prefix
	Name      string // of the IPAMBlock; "": there is none
	Affinity  string // of the BlockAffinity; "": there is none
	Owner     string
	OwnerGone bool
}

// Say describes the deletion.
func (g giveBack) Say() string {
	switch {
	case g.Name == "":
		return fmt.Sprintf("delete the affinity of %s to %s, if the block names another owner", g.Owner, g.Block)
	case g.Affinity == "":
		return fmt.Sprintf("release %s, which is empty and has no affinity", g.Block)
	case g.OwnerGone:
		return fmt.Sprintf("release %s, whose node %s does not exist", g.Block, g.Owner)
	}
	return fmt.Sprintf("give %s of %s back", g.Block, g.Owner)
}

// Commands delete the block, then the affinity, as Calico does.
func (g giveBack) Commands() []string {
	line := ""
	if g.Name != "" {
		line = "kubectl delete " + blocksResource + " " + reports.Shell(g.Name)
	}
	if g.Affinity != "" {
		if line != "" {
			line += " && "
		}
		line += "kubectl delete " + affinitiesResource + " " + reports.Shell(g.Affinity)
	}
	switch {
	case g.OwnerGone:
		line = remedy.Guard{Node: g.Owner}.Before(line)
	case g.Name == "":
		owner := "kubectl get " + blocksResource + " " + reports.Shell(calico.BlockName(g.Block.String())) + " --ignore-not-found -o jsonpath={.spec.affinity}"
		line = remedy.Unlike(owner, "host:"+g.Owner, line)
	}
	return []string{line}
}

func (g giveBack) Perform(s *remedy.Script) {
	if g.Name != "" {
		s.Do(scenarios.Event{Action: &action.Delete{Resource: blocksResource, Name: g.Name}})
	}
	if g.Affinity != "" {
		s.Do(scenarios.Event{Action: &action.Delete{Resource: affinitiesResource, Name: g.Affinity}})
	}
}

// makeAffinity gives the owner that a block names its affinity again.
type makeAffinity struct {
	Block    netip.Prefix
	Owner    string
	Manifest json.RawMessage
}

// Say says whose it is.
func (m makeAffinity) Say() string {
	return fmt.Sprintf("recreate the affinity of %s to %s, which names it as its owner", m.Owner, m.Block)
}

// Commands create the BlockAffinity.
func (m makeAffinity) Commands() []string { return []string{remedy.Create(m.Manifest)} }

func (m makeAffinity) Perform(s *remedy.Script) {
	s.Do(scenarios.Event{Action: &action.Apply{Object: m.Manifest}})
}

// await leaves it to calico-kube-controllers, which give a block back that has been
// empty for the grace period.
type await struct {
	Block netip.Prefix
	For   time.Duration
}

// Say describes the wait.
func (a await) Say() string {
	return fmt.Sprintf("wait until calico-kube-controllers has released %s, which takes %s; check that it is gone", a.Block, a.For)
}

// Commands is calicoctl ipam show.
func (a await) Commands() []string { return []string{"calicoctl ipam show --show-blocks"} }

func (a await) Perform(s *remedy.Script) { s.Wait(a.For) }
