package remedies

import (
	"fmt"
	"net/netip"

	"ipamsim/scenarios"
	"ipamsim/scenarios/remedy"
	"ipamsim/sim/cluster/action"
)

// releaseReport lets calicoctl find what has leaked and free it, if it has not changed
// since, while the datastore is locked.
//
// Source: calicoctl/calicoctl/commands/ipam, releaseFromReports (v3.31).
type releaseReport struct{}

// Say describes the release.
func (releaseReport) Say() string {
	return "let calicoctl find and release leaked addresses, with the datastore locked; read the report before the third command"
}

// Commands lock, check, release, unlock.
func (releaseReport) Commands() []string {
	return []string{
		"calicoctl datastore migrate lock",
		"calicoctl ipam check --show-problem-ips -o report.json",
		"calicoctl ipam release --from-report=report.json",
		"calicoctl datastore migrate unlock",
	}
}

func (r releaseReport) Perform(s *remedy.Script) {
	lines := r.Commands()
	lock(s, true)
	s.DoCheck(scenarios.Event{Action: &action.Command{Run: lines[1]}})
	s.Do(scenarios.Event{Action: &action.Command{Run: lines[2]}})
	lock(s, false)
}

// lock locks Calico's datastore, or unlocks it.
//
// Source: calicoctl/calicoctl/commands/datastore/migrate, Lock (v3.31).
func lock(s *remedy.Script, locked bool) {
	body := fmt.Sprintf(`{"apiVersion":"crd.projectcalico.org/v1","kind":"ClusterInformation","metadata":{"name":"default"},"spec":{"datastoreReady":%t}}`, !locked)
	s.Do(scenarios.Event{Action: &action.Apply{Object: []byte(body)}})
}

// release frees addresses, one after another, each if its guard holds.
type release struct {
	Addrs  []netip.Addr
	Guards map[netip.Addr]remedy.Guard
}

// Say says which.
func (r release) Say() string {
	if len(r.Addrs) == 1 {
		return "free " + r.Addrs[0].String() + ", " + r.Guards[r.Addrs[0]].Say()
	}
	return "free " + remedy.Some(r.Addrs) + ": each command first checks that no pod or node has it now"
}

func (release) line(a netip.Addr) string { return "calicoctl ipam release --ip=" + a.String() }

// Commands is calicoctl ipam release --ip, for each.
func (r release) Commands() []string {
	var out []string
	for _, a := range r.Addrs {
		out = append(out, r.Guards[a].Before(r.line(a)))
	}
	return out
}

func (r release) Perform(s *remedy.Script) {
	for _, a := range r.Addrs {
		s.Do(scenarios.Event{Action: &action.Command{Run: r.line(a)}})
	}
}

// dropHandles deletes handles by which nothing is claimed.
type dropHandles struct{ Names, IDs []string }

// Say says which.
func (d dropHandles) Say() string {
	return "delete " + remedy.Some(d.Names) + ", if no block has an address claimed by it"
}

// Commands is one kubectl delete, after a check of the blocks.
func (d dropHandles) Commands() []string {
	line := "kubectl delete " + handlesResource + " " + remedy.Shell(d.Names)
	return []string{remedy.Unmentioned("kubectl get "+blocksResource+" -o yaml", d.IDs, line)}
}

func (d dropHandles) Perform(s *remedy.Script) {
	for _, n := range d.Names {
		s.Do(scenarios.Event{Action: &action.Delete{Resource: handlesResource, Name: n}})
	}
}
