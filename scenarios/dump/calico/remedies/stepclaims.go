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

// Say says what happens.
func (releaseReport) Say() string {
	return "let calicoctl find and free what has leaked, with the datastore locked; read the report before the third line"
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

func (r releaseReport) Perform(s *remedy.Stage) {
	lines := r.Commands()
	lock(s, true)
	s.Do(scenarios.Event{Command: &action.Command{Run: lines[1]}})
	s.Do(scenarios.Event{Command: &action.Command{Run: lines[2]}})
	lock(s, false)
	s.Tells("calicoctl ipam check")
}

// lock locks Calico's datastore, or unlocks it.
//
// Source: calicoctl/calicoctl/commands/datastore/migrate, Lock (v3.31).
func lock(s *remedy.Stage, locked bool) {
	body := fmt.Sprintf(`{"apiVersion":"crd.projectcalico.org/v1","kind":"ClusterInformation","metadata":{"name":"default"},"spec":{"datastoreReady":%t}}`, !locked)
	s.Do(scenarios.Event{Apply: &action.Apply{Object: []byte(body)}})
}

// release frees addresses, one after another.
type release struct{ Addrs []netip.Addr }

// Say says which.
func (r release) Say() string { return "free " + remedy.Some(r.Addrs) }

// Commands is calicoctl ipam release --ip, for each.
func (r release) Commands() []string {
	var out []string
	for _, a := range r.Addrs {
		out = append(out, "calicoctl ipam release --ip="+a.String())
	}
	return out
}

func (r release) Perform(s *remedy.Stage) {
	for _, line := range r.Commands() {
		s.Do(scenarios.Event{Command: &action.Command{Run: line}})
	}
}

// dropHandles deletes handles by which nothing is claimed.
type dropHandles struct{ Names []string }

// Say says which.
func (d dropHandles) Say() string {
	return "delete " + remedy.Some(d.Names) + ", by which nothing is claimed"
}

// Commands is one kubectl delete.
func (d dropHandles) Commands() []string {
	return []string{"kubectl delete " + handlesResource + " " + remedy.Shell(d.Names)}
}

func (d dropHandles) Perform(s *remedy.Stage) {
	for _, n := range d.Names {
		s.Do(scenarios.Event{Delete: &action.Delete{Resource: handlesResource, Name: n}})
	}
}
