package remedy

import (
	"encoding/json"
	"fmt"
	"net/netip"
	"time"

	"ipamsim/reports"
	"ipamsim/scenarios"
	"ipamsim/sim/cluster/action"
)

const (
	blocksResource     = "ipamblocks.crd.projectcalico.org"
	affinitiesResource = "blockaffinities.crd.projectcalico.org"
	handlesResource    = "ipamhandles.crd.projectcalico.org"
)

// Check looks whether a block is empty, right before it is deleted.
type Check struct{ Block netip.Prefix }

// Say says what must be seen.
func (c Check) Say() string {
	return fmt.Sprintf("go on only if 0 addresses of %s are in use now: deleted with one in use, the block is made anew and gives that address to another pod (scenarios/w4-repair-too-early.yaml)", c.Block)
}

// Commands is calicoctl ipam show.
func (c Check) Commands() []string { return []string{"calicoctl ipam show --show-blocks"} }

func (c Check) perform(s *stage) {
	s.do(scenarios.Event{Command: &action.Command{Run: c.Commands()[0]}})
	s.gates = append(s.gates, gate{at: s.now, empty: c.Block})
}

// GiveBack takes an empty block from its node, with the affinity if there is one.
type GiveBack struct {
	Block     netip.Prefix
	Name      string // of the IPAMBlock; "": there is none
	Affinity  string // of the BlockAffinity; "": there is none
	Owner     string
	OwnerGone bool
}

// Say says what is deleted.
func (g GiveBack) Say() string {
	switch {
	case g.Name == "":
		return fmt.Sprintf("delete the affinity of %s to %s", g.Owner, g.Block)
	case g.Affinity == "":
		return fmt.Sprintf("give %s back, which is empty and has no affinity", g.Block)
	case g.OwnerGone:
		return fmt.Sprintf("give %s back, whose node %s is gone", g.Block, g.Owner)
	}
	return fmt.Sprintf("give %s of %s back", g.Block, g.Owner)
}

// Commands delete the block, then the affinity, as Calico does.
func (g GiveBack) Commands() []string {
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
	return []string{line}
}

func (g GiveBack) perform(s *stage) {
	if g.Name != "" {
		s.do(scenarios.Event{Delete: &action.Delete{Resource: blocksResource, Name: g.Name}})
	}
	if g.Affinity != "" {
		s.do(scenarios.Event{Delete: &action.Delete{Resource: affinitiesResource, Name: g.Affinity}})
	}
}

// MakeAffinity gives the owner that a block names its affinity again.
type MakeAffinity struct {
	Block    netip.Prefix
	Owner    string
	Manifest json.RawMessage
}

// Say says whose it is.
func (m MakeAffinity) Say() string {
	return fmt.Sprintf("give %s its affinity to %s again, which names it as its owner", m.Owner, m.Block)
}

// Commands create the BlockAffinity.
func (m MakeAffinity) Commands() []string { return []string{create(m.Manifest)} }

func (m MakeAffinity) perform(s *stage) {
	s.do(scenarios.Event{Apply: &action.Apply{Object: m.Manifest}})
}

func create(manifest json.RawMessage) string {
	return "echo " + reports.Shell(string(manifest)) + " | kubectl create -f -"
}

// Await leaves it to calico-kube-controllers, which give a block back that has been
// empty for the grace period.
type Await struct {
	Block netip.Prefix
	For   time.Duration
}

// Say says what happens by itself.
func (a Await) Say() string {
	return fmt.Sprintf("wait until calico-kube-controllers have given %s back, which takes %s; look whether it is gone", a.Block, a.For)
}

// Commands is calicoctl ipam show.
func (a Await) Commands() []string { return []string{"calicoctl ipam show --show-blocks"} }

func (a Await) perform(s *stage) { s.now += a.For }
