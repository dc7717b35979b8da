// Package cri has the container runtime's record of sandboxes on the disk of its machine.
package cri

import (
	"maps"
	"slices"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"ipamsim/sim"
)

// Sandbox is one sandbox on record: enough to run CNI DEL for it later.
type Sandbox struct {
	Pod       *corev1.Pod
	Container string // its id
	IPs       []corev1.PodIP
	Began     time.Duration // when its containers did
	Tried     bool          // its ADD has begun, so that a DEL calls its networks
	Result    bool          // its ADD succeeded: the runtime has a result of it
	Worked    bool          // its containers have done their work
	Stopped   bool          // StopPodSandbox has succeeded
	Unmounted bool          // its machine has lost its power since

	number    int         // how many the machine had before
	undone    bool        // the runtime undoes its ADD and shows it to no kubelet
	stopping  sim.ActorID // which process stops it
	forgotten bool        // by Multus, which has removed its file of its networks
}

// Netns is the path of its network namespace, which CNI gets; "" if that is gone. The runtime
// removes it when StopPodSandbox has succeeded, and after a reboot nothing is mounted there. The
// DEL that undoes an ADD has it.
//
// Source: containerd 2, internal/cri/server/sandbox_stop.go:112 and 123, stopPodSandbox;
// internal/cri/server/sandbox_run.go:241, RunPodSandbox; pkg/netns/netns_linux.go:211, Closed (v2.1.4).
func (s *Sandbox) Netns() string {
	if s.Stopped || s.Unmounted {
		return ""
	}
	return "/var/run/netns/" + s.Container
}

// Record is the record of one machine. A sandbox is in it from its creation until it is removed,
// through restarts of the runtime and of the machine.
type Record struct {
	Runs func(container string) bool // whether a sandbox has its processes

	mu        sync.Mutex
	sandboxes map[string]*Sandbox // by container
	number    int                 // of the next
}

// Add puts a sandbox on record.
func (r *Record) Add(s *Sandbox) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.sandboxes == nil {
		r.sandboxes = map[string]*Sandbox{}
	}
	r.sandboxes[s.Container], s.number = s, r.number
	r.number++
}

// Remove takes a sandbox off the record.
func (r *Record) Remove(s *Sandbox) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.sandboxes, s.Container)
}

// Lose takes all of them off: the disk is another one.
func (r *Record) Lose() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.sandboxes = nil
}

// All are the sandboxes that a kubelet is shown, oldest first.
func (r *Record) All() []*Sandbox {
	r.mu.Lock()
	defer r.mu.Unlock()
	all := slices.SortedFunc(maps.Values(r.sandboxes), func(a, b *Sandbox) int { return a.number - b.number })
	return slices.DeleteFunc(all, func(s *Sandbox) bool { return s.undone })
}

// Of are the sandboxes of a pod: the running one, nil if there is none, and the others, oldest
// first.
func (r *Record) Of(uid types.UID) (up *Sandbox, dead []*Sandbox) {
	for _, s := range r.All() {
		switch {
		case s.Pod.UID != uid:
		case s.Result && r.Runs(s.Container) && up == nil:
			up = s
		default:
			dead = append(dead, s)
		}
	}
	return up, dead
}

// Dead are the sandboxes that do not run, oldest first.
func (r *Record) Dead() []*Sandbox {
	return slices.DeleteFunc(r.All(), func(s *Sandbox) bool { return r.Runs(s.Container) })
}

// Undo records that the runtime undoes a sandbox. It returns false if the runtime had not begun to
// create it.
func (r *Record) Undo(s *Sandbox) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.sandboxes[s.Container] != s {
		return false
	}
	s.undone = true
	return true
}

// Restart is what the runtime finds when it starts: sandboxes that it was undoing are dead.
func (r *Record) Restart() {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, s := range r.sandboxes {
		s.undone = false
	}
}

// PowerOff is Restart of a machine that loses its power: no network namespace is left.
func (r *Record) PowerOff() {
	r.Restart()
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, s := range r.sandboxes {
		s.Unmounted = true
	}
}

// Claim records which process stops a sandbox. It returns false if another live process does: a
// kubelet's worker and its garbage collector do not call DEL for one sandbox at the same time.
func (r *Record) Claim(s *Sandbox, by sim.ActorID, alive func(sim.ActorID) bool) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if s.stopping != by && alive(s.stopping) {
		return false
	}
	s.stopping = by
	return true
}

// Release ends a claim.
func (r *Record) Release(s *Sandbox, by sim.ActorID) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if s.stopping == by {
		s.stopping = ""
	}
}
