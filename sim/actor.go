package sim

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"runtime/debug"
	"slices"
)

// Process says what to spawn: one simulated operating-system process.
type Process struct {
	ID    ActorID
	Group string // what it runs on: a node's name, or ""
	// Mortal processes may be killed by the schedule at any of their messages
	// (Crash). The harness's own actors are not.
	Mortal bool
	// Run returns when the process exits by itself; its context ends when the
	// process is killed.
	Run func(context.Context, *Gate) error
}

// Actor is a spawned process.
type Actor struct {
	Process

	gate   *Gate
	seq    int
	cancel context.CancelFunc
	dead   chan struct{} // closed when killed
	done   chan struct{} // closed when Run has returned
	late   int           // messages tried after death
	err    error
}

// Spawn starts a process. A panic of its Run is given to Hooks.Panic.
//
// An id that is already alive is a mistake of the caller and panics.
func (w *World) Spawn(p Process) *Actor {
	ctx, cancel := context.WithCancel(context.Background())
	a := &Actor{Process: p, cancel: cancel, dead: make(chan struct{}), done: make(chan struct{})}
	a.gate = &Gate{w: w, a: a}
	w.mu.Lock()
	if w.actors[p.ID] != nil {
		w.mu.Unlock()
		panic(fmt.Sprintf("sim: actor %q is alive already", p.ID))
	}
	w.actors[p.ID] = a
	w.mu.Unlock()
	go func() {
		defer w.exit(a)
		a.err = p.Run(ctx, a.gate)
	}()
	return a
}

func (w *World) exit(a *Actor) {
	if v := recover(); v != nil {
		a.err = fmt.Errorf("panic: %v", v)
		if !a.killed() && w.Hooks.Panic != nil {
			w.Hooks.Panic(a.ID, v, string(debug.Stack()))
		}
	}
	a.cancel()
	w.mu.Lock()
	if w.actors[a.ID] == a {
		delete(w.actors, a.ID)
	}
	w.mu.Unlock()
	close(a.done)
	w.signal()
}

// Done is closed when the process has ended, by itself or killed.
func (a *Actor) Done() <-chan struct{} { return a.done }

// Err is what run returned; read it after Done is closed.
func (a *Actor) Err() error { return a.err }

func (a *Actor) killed() bool {
	select {
	case <-a.dead:
		return true
	default:
		return false
	}
}

func (a *Actor) kill() {
	if !a.killed() {
		close(a.dead)
		a.cancel()
	}
}

// Kill ends a process at once, as SIGKILL would: whatever its deferred calls
// still try to send never reaches a server. It reports whether it was alive.
func (w *World) Kill(id ActorID) bool {
	w.mu.Lock()
	a := w.actors[id]
	delete(w.actors, id)
	w.mu.Unlock()
	if a == nil {
		return false
	}
	a.kill()
	return true
}

// KillGroup kills every process of a group and returns their names, sorted.
func (w *World) KillGroup(group string) []ActorID {
	var ids []ActorID
	w.mu.Lock()
	for _, a := range sortedActors(w.actors) {
		if a.Group == group {
			ids = append(ids, a.ID)
		}
	}
	w.mu.Unlock()
	for _, id := range ids {
		w.Kill(id)
	}
	return ids
}

// Alive reports whether the process has been started and has not ended.
func (w *World) Alive(id ActorID) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.actors[id] != nil
}

func sortedActors(m map[ActorID]*Actor) []*Actor {
	return slices.SortedFunc(maps.Values(m), func(a, b *Actor) int { return cmp.Compare(a.ID, b.ID) })
}
