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
	Guard                   remedy.Guard
}

// Say says which.
func (t takeOut) Say() string {
	return fmt.Sprintf("remove %s from pool %s, %s", t.Addr, t.Pool, t.Guard.Say())
}

func (t takeOut) patch() []map[string]any {
	return []map[string]any{
		{"op": "test", "path": "/spec/allocations/" + t.Key + "/id", "value": t.ID},
		{"op": "remove", "path": "/spec/allocations/" + t.Key},
	}
}

// Commands look whether the pod runs, patch the pool, then delete the reservation.
func (t takeOut) Commands() []string {
	patch, _ := json.Marshal(t.patch())
	line := fmt.Sprintf("kubectl patch %s %s -n %s --type=json -p %s", rangePoolsResource, reports.Shell(t.Pool), reports.Shell(t.Namespace), reports.Shell(string(patch)))
	if t.Reserved != "" {
		line += " && " + dropReservation{Namespace: t.ReservationIn, Name: t.Reserved}.line()
	}
	return []string{t.Guard.Before(line)}
}

// Perform patches the pool where the simulated Whereabouts has it: see here.
func (t takeOut) Perform(s *remedy.Script) {
	s.Do(scenarios.Event{Action: &action.Patch{Resource: rangePoolsResource, Namespace: kubeSystem, Name: t.Pool, JSON: t.patch()}})
	if t.Reserved != "" {
		dropReservation{Namespace: t.ReservationIn, Name: t.Reserved}.Perform(s)
	}
}

// dropReservation deletes a reservation of Whereabouts' that guards nothing.
type dropReservation struct {
	Namespace, Name string
	Guard           remedy.Guard
}

// Say says which.
func (d dropReservation) Say() string {
	return "delete the reservation " + d.Name + ", " + d.Guard.Say()
}

func (d dropReservation) line() string {
	return "kubectl delete " + reservationsResource + " " + reports.Shell(d.Name) + " -n " + reports.Shell(d.Namespace)
}

// Commands look whether the pod runs, then delete the reservation.
func (d dropReservation) Commands() []string { return []string{d.Guard.Before(d.line())} }

// Perform deletes it where the simulated Whereabouts has it.
func (d dropReservation) Perform(s *remedy.Script) {
	s.Do(scenarios.Event{Action: &action.Delete{Resource: reservationsResource, Namespace: kubeSystem, Name: d.Name}})
}
