package remedy

import (
	"encoding/json"
	"fmt"
	"net/netip"

	"ipamsim/reports"
	"ipamsim/scenarios"
	"ipamsim/sim/cluster/action"
)

// ReleaseReport lets calicoctl find what has leaked and free it, if it has not changed
// since, while the datastore is locked.
//
// Source: calicoctl/calicoctl/commands/ipam, releaseFromReports (v3.31).
type ReleaseReport struct{}

// Say says what happens.
func (ReleaseReport) Say() string {
	return "let calicoctl find and free what has leaked, with the datastore locked; read the report before the third line"
}

// Commands lock, check, release, unlock.
func (ReleaseReport) Commands() []string {
	return []string{
		"calicoctl datastore migrate lock",
		"calicoctl ipam check --show-problem-ips -o report.json",
		"calicoctl ipam release --from-report=report.json",
		"calicoctl datastore migrate unlock",
	}
}

func (r ReleaseReport) perform(s *stage) {
	lines := r.Commands()
	s.lock(true)
	s.do(scenarios.Event{Command: &action.Command{Run: lines[1]}})
	s.do(scenarios.Event{Command: &action.Command{Run: lines[2]}})
	s.lock(false)
}

// Release frees addresses, one after another.
type Release struct{ Addrs []netip.Addr }

// Say says which.
func (r Release) Say() string { return "free " + some(r.Addrs) }

// Commands is calicoctl ipam release --ip, for each.
func (r Release) Commands() []string {
	var out []string
	for _, a := range r.Addrs {
		out = append(out, "calicoctl ipam release --ip="+a.String())
	}
	return out
}

func (r Release) perform(s *stage) {
	for _, line := range r.Commands() {
		s.do(scenarios.Event{Command: &action.Command{Run: line}})
	}
}

// DropHandles deletes handles by which nothing is claimed.
type DropHandles struct{ Names []string }

// Say says which.
func (d DropHandles) Say() string { return "delete " + some(d.Names) + ", by which nothing is claimed" }

// Commands is one kubectl delete.
func (d DropHandles) Commands() []string {
	return []string{"kubectl delete " + handlesResource + " " + shellAll(d.Names)}
}

func (d DropHandles) perform(s *stage) {
	for _, n := range d.Names {
		s.do(scenarios.Event{Delete: &action.Delete{Resource: handlesResource, Name: n}})
	}
}

const (
	rangePoolsResource   = "ippools.whereabouts.cni.cncf.io"
	reservationsResource = "overlappingrangeipreservations.whereabouts.cni.cncf.io"
)

// TakeOut takes a claim out of a pool of Whereabouts', if it is still the same.
type TakeOut struct {
	Addr                    netip.Addr
	Namespace, Pool         string
	Key, ID                 string // of the allocation in it
	Reserved, ReservationIn string // the OverlappingRangeIPReservation and its namespace; "": none
}

// Say says which.
func (t TakeOut) Say() string { return fmt.Sprintf("take %s out of pool %s", t.Addr, t.Pool) }

func (t TakeOut) patch() []map[string]any {
	return []map[string]any{
		{"op": "test", "path": "/spec/allocations/" + t.Key + "/id", "value": t.ID},
		{"op": "remove", "path": "/spec/allocations/" + t.Key},
	}
}

// Commands patch the pool, then delete the reservation.
func (t TakeOut) Commands() []string {
	patch, _ := json.Marshal(t.patch())
	line := fmt.Sprintf("kubectl patch %s %s -n %s --type=json -p %s", rangePoolsResource, reports.Shell(t.Pool), reports.Shell(t.Namespace), reports.Shell(string(patch)))
	if t.Reserved != "" {
		line += " && " + DropReservation{t.ReservationIn, t.Reserved}.Commands()[0]
	}
	return []string{line}
}

func (t TakeOut) perform(s *stage) {
	s.do(scenarios.Event{Patch: &action.Patch{Resource: rangePoolsResource, Namespace: t.Namespace, Name: t.Pool, JSON: t.patch()}})
	if t.Reserved != "" {
		DropReservation{t.ReservationIn, t.Reserved}.perform(s)
	}
}

// DropReservation deletes a reservation of Whereabouts' that guards nothing.
type DropReservation struct{ Namespace, Name string }

// Say says which.
func (d DropReservation) Say() string { return "delete the reservation " + d.Name }

// Commands is kubectl delete.
func (d DropReservation) Commands() []string {
	return []string{"kubectl delete " + reservationsResource + " " + reports.Shell(d.Name) + " -n " + reports.Shell(d.Namespace)}
}

func (d DropReservation) perform(s *stage) {
	s.do(scenarios.Event{Delete: &action.Delete{Resource: reservationsResource, Namespace: d.Namespace, Name: d.Name}})
}
