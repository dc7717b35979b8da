package whereabouts_test

import (
	"fmt"
	"strings"
	"testing"

	"ipamsim/model"
	"ipamsim/model/reference/whereabouts"
)

var web0 = model.PodRef{Namespace: "default", Name: "web-0"}

// What each rule says of an allocation of 10.0.0.1 to the pod web-0.
func TestOrphaned(t *testing.T) {
	for _, c := range []struct {
		name string
		pod  *whereabouts.Pod
		want string // the rules that call it orphaned
	}{
		{"gone", nil, "address-in-status skip-pending pod-exists pods-first"},
		{"running, in its status", &whereabouts.Pod{IPs: []string{"10.0.0.2", "10.0.0.1"}}, ""},
		{"running, not in its status", &whereabouts.Pod{IPs: []string{"10.0.0.2"}}, "address-in-status skip-pending pods-first"},
		{"pending, not in its status yet", &whereabouts.Pod{Pending: true}, "address-in-status pods-first"},
		{"pending, in its status", &whereabouts.Pod{Pending: true, IPs: []string{"10.0.0.1"}}, ""},
	} {
		var got []string
		for _, r := range whereabouts.Rules() {
			if r.Orphaned(whereabouts.Claimed{Pod: web0, Address: "10.0.0.1"}, c.pod) {
				got = append(got, string(r))
			}
		}
		if g := strings.Join(got, " "); g != c.want {
			t.Errorf("%s: orphaned by %q, want %q", c.name, g, c.want)
		}
	}
}

// An allocation that names no pod is kept; a reservation that names none is garbage.
func TestOrphanedWithoutPod(t *testing.T) {
	for _, r := range whereabouts.Rules() {
		if r.Orphaned(whereabouts.Claimed{Address: "10.0.0.1"}, nil) || !r.Orphaned(whereabouts.Claimed{Address: "10.0.0.1", Reservation: true}, nil) {
			t.Error(r)
		}
	}
}

// Only a Pending pod is read again, and only where its status counts.
func TestRefreshes(t *testing.T) {
	claim := whereabouts.Claimed{Pod: web0, Address: "10.0.0.1"}
	for _, r := range whereabouts.Rules() {
		want := r == whereabouts.AddressInStatus || r == whereabouts.PodsFirst
		if r.Refreshes(claim, &whereabouts.Pod{Pending: true}) != want || r.Refreshes(claim, &whereabouts.Pod{}) || r.Refreshes(claim, nil) ||
			r.Refreshes(claim, &whereabouts.Pod{Pending: true, IPs: []string{"10.0.0.1"}}) {
			t.Error(r)
		}
	}
}

// Pods without an allocation do not count, and a marked one is taken for gone.
func TestLive(t *testing.T) {
	ref := func(name string) model.PodRef { return model.PodRef{Namespace: "default", Name: name} }
	live := whereabouts.Live([]model.Claim{{Pod: ref("a")}, {Pod: ref("b")}, {Pod: ref("gone")}}, []whereabouts.Pod{{Ref: ref("a")}, {Ref: ref("b"), Marked: true}, {Ref: ref("c")}})
	if len(live) != 1 || live[ref("a")] == nil {
		t.Errorf("%v", live)
	}
}

func ExampleDenormalized() {
	fmt.Println(whereabouts.Denormalized("fd00--1"), whereabouts.Denormalized("blue-10.0.0.1"))
	// Output: fd00::1 blue:10.0.0.1
}
