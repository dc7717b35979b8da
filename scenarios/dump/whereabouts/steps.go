package whereabouts

import (
	"encoding/json"
	"fmt"
	"net/netip"

	"ipamsim/reports"
	"ipamsim/scenarios"
	"ipamsim/scenarios/remedy"
	"ipamsim/sim/cluster/action"
)

const (
	rangePoolsResource   = "ippools.whereabouts.cni.cncf.io"
	reservationsResource = "overlappingrangeipreservations.whereabouts.cni.cncf.io"
)

// takeOut takes a claim out of a pool of Whereabouts', if it is still the same.
type takeOut struct {
	Addr                    netip.Addr
	Namespace, Pool         string
	Key, ID                 string // of the allocation in it
	Reserved, ReservationIn string // the OverlappingRangeIPReservation and its namespace; "": none
}

// Say says which.
func (t takeOut) Say() string { return fmt.Sprintf("take %s out of pool %s", t.Addr, t.Pool) }

func (t takeOut) patch() []map[string]any {
	return []map[string]any{
		{"op": "test", "path": "/spec/allocations/" + t.Key + "/id", "value": t.ID},
		{"op": "remove", "path": "/spec/allocations/" + t.Key},
	}
}

// Commands patch the pool, then delete the reservation.
func (t takeOut) Commands() []string {
	patch, _ := json.Marshal(t.patch())
	line := fmt.Sprintf("kubectl patch %s %s -n %s --type=json -p %s", rangePoolsResource, reports.Shell(t.Pool), reports.Shell(t.Namespace), reports.Shell(string(patch)))
	if t.Reserved != "" {
		line += " && " + dropReservation{t.ReservationIn, t.Reserved}.Commands()[0]
	}
	return []string{line}
}

// Perform patches the pool where the simulated Whereabouts has it: see here.
func (t takeOut) Perform(s *remedy.Stage) {
	s.Do(scenarios.Event{Patch: &action.Patch{Resource: rangePoolsResource, Namespace: kubeSystem, Name: t.Pool, JSON: t.patch()}})
	if t.Reserved != "" {
		dropReservation{t.ReservationIn, t.Reserved}.Perform(s)
	}
}

// dropReservation deletes a reservation of Whereabouts' that guards nothing.
type dropReservation struct{ Namespace, Name string }

// Say says which.
func (d dropReservation) Say() string { return "delete the reservation " + d.Name }

// Commands is kubectl delete.
func (d dropReservation) Commands() []string {
	return []string{"kubectl delete " + reservationsResource + " " + reports.Shell(d.Name) + " -n " + reports.Shell(d.Namespace)}
}

// Perform deletes it where the simulated Whereabouts has it.
func (d dropReservation) Perform(s *remedy.Stage) {
	s.Do(scenarios.Event{Delete: &action.Delete{Resource: reservationsResource, Namespace: kubeSystem, Name: d.Name}})
}
