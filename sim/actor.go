package sim

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"runtime/debug"
	"slices"
	"strings"

	"ipamsim/sim/hermetic"
)

// Process describes one simulated operating-system process to spawn.
type Process struct {
	ID    ActorID
	Group string // the machine that it runs on: a node's name, or ""
	// Mortal processes may be killed by the schedule at any of their messages
	// (Crash). The harness's own actors are not.
	Mortal bool
	Clock  *Clock // its machine's; nil: virtual time
	// Run returns when the process exits by itself. Its context ends when the process is killed.
	// Goroutines that Run leaves behind die with the process.
	Run func(context.Context, *Gate) error
}

// Actor is a spawned process.
type Actor struct {
	Process

	gate        *Gate
	proc        hermetic.Process
	incarnation int // how many processes had this name before
	seq         int
	links       int // connections that were numbered
	cancel      context.CancelFunc
	done        chan struct{} // closed when the process has ended: nothing leaves it any more
	late        int           // messages tried after that
	err         error

	ctx       context.Context // of its Run
	term      context.Context // see Gate.Term
	terminate func()          // its handler of SIGTERM; nil: it has none
	asked     bool            // to end

	children int  // that it waits for, see Gate.Child
	orphaned bool // it is killed once the last of them has ended
}

// ErrGoexit ends a process whose Run neither returned nor panicked.
var ErrGoexit = errors.New("sim: process left by runtime.Goexit")

// Spawn starts a process. A panic of its Run that is not recovered crashes the process and is
// passed to Hooks.Panic. On the hermetic runtime the same holds for a panic of any goroutine that
// the process starts; on the stock runtime that ends the operating system's process. A process that
// is spawned after the end of the run is dead from the start.
//
// Spawn panics if the id is empty, not one printable word, or belongs to a live process: this is a
// mistake of the caller.
func (w *World) Spawn(p Process) *Actor {
	if p.ID == "" || strings.ContainsAny(string(p.ID), " \t\r\n\"") {
		panic(fmt.Sprintf("sim: actor id %q is not one word", p.ID))
	}
	ctx, cancel := context.WithCancel(context.Background())
	a := &Actor{Process: p, ctx: ctx, cancel: cancel, done: make(chan struct{})}
	a.gate = &Gate{w: w, a: a}
	a.proc.Crash = func(value any) { w.crash(a, value, string(debug.Stack())) }
	if a.Clock != nil {
		a.proc.Ahead = &a.Clock.ahead
	}
	w.mu.Lock()
	if w.actors[p.ID] != nil {
		w.mu.Unlock()
		panic(fmt.Sprintf("sim: actor %q is alive already", p.ID))
	}
	w.actors[p.ID] = a
	a.incarnation = w.incarnations[p.ID]
	w.incarnations[p.ID]++
	closed := w.closed
	w.mu.Unlock()
	if closed {
		w.end(a, ErrKilled)
	}
	go w.run(ctx, a)
	return a
}

func (w *World) run(ctx context.Context, a *Actor) {
	err := ErrGoexit
	defer func() {
		if v := recover(); v != nil {
			w.crash(a, v, string(debug.Stack()))
			return
		}
		w.end(a, err)
	}()
	hermetic.SetProcess(&a.proc)
	err = a.Run(ctx, a.gate)
}

// Crash ends the process because of a panic that its owner recovered in one of the goroutines.
func (g *Gate) Crash(value any, stack string) { g.w.crash(g.a, value, stack) }

// Exited marks the process's program as returned from its main function. In the real system
// nothing of the process is left then, so a goroutine that still waits for one of its mutexes
// is not a deadlock to report.
func (g *Gate) Exited() { g.a.proc.Crashed = true }

// crash ends a process because of a panic. stack is the stack of the goroutine that panicked; its
// deferred functions have run. Only the first panic counts.
func (w *World) crash(a *Actor, value any, stack string) {
	a.proc.Crashed = true
	if !w.end(a, fmt.Errorf("panic: %v", value)) {
		return
	}
	w.mu.Lock()
	w.panics = append(w.panics, panicked{a.ID, value, stack})
	w.mu.Unlock()
}

// end makes the process dead immediately: it withdraws the parked messages of the process, and no
// goroutine of the process can send a later one. This concerns all goroutines: otherwise an
// informer that outlives Run would keep sending messages to the server on behalf of a process that
// has exited, or of its successor.
//
// It returns false if the process was already dead.
func (w *World) end(a *Actor, err error) bool {
	w.mu.Lock()
	if a.ended() {
		w.mu.Unlock()
		return false
	}
	a.err = err
	a.proc.Dead = true
	close(a.done)
	if w.actors[a.ID] == a {
		delete(w.actors, a.ID)
	}
	w.parked = slices.DeleteFunc(w.parked, func(p *parked) bool { return p.actor == a })
	w.mu.Unlock()
	a.cancel()
	w.signal()
	return true
}

// Done is closed when the process has exited or was killed. Goroutines of a killed process may
// still unwind, without effect.
func (a *Actor) Done() <-chan struct{} { return a.done }

// Err is what Run returned, or ErrKilled; read it after Done is closed.
func (a *Actor) Err() error { return a.err }

func (a *Actor) ended() bool {
	select {
	case <-a.done:
		return true
	default:
		return false
	}
}

// Kill ends a process immediately, as SIGKILL does: what its deferred calls still try to send
// never reaches a server. It reports whether the process was alive.
func (w *World) Kill(id ActorID) bool {
	w.mu.Lock()
	a := w.actors[id]
	w.mu.Unlock()
	return a != nil && w.end(a, ErrKilled)
}

// Term is the process's handler of SIGTERM: the context ends when the process is asked to end,
// or is killed. A process that has no handler is killed by SIGTERM.
func (g *Gate) Term() context.Context {
	g.w.mu.Lock()
	defer g.w.mu.Unlock()
	if g.a.term == nil {
		g.a.term, g.a.terminate = context.WithCancel(g.a.ctx)
	}
	return g.a.term
}

// OnTerm sets the SIGTERM handler of the process. The handler must not block.
func (g *Gate) OnTerm(f func()) {
	g.w.mu.Lock()
	defer g.w.mu.Unlock()
	g.a.terminate = f
}

// Terminate asks a process to end, as SIGTERM does. It returns the process, nil if there is
// none.
func (w *World) Terminate(id ActorID) *Actor {
	w.mu.Lock()
	a := w.actors[id]
	if a == nil {
		w.mu.Unlock()
		return nil
	}
	a.asked = true
	handler := a.terminate
	w.mu.Unlock()
	if handler == nil {
		w.end(a, ErrKilled)
	} else {
		handler()
	}
	return a
}

// Asked reports whether the process was asked to end.
func (a *Actor) Asked() bool { return a.asked }

// Child runs f, the part of a process that is a child process which its parent waits for.
// Without a gate f just runs.
func (g *Gate) Child(f func()) {
	if g == nil {
		f()
		return
	}
	w, a := g.w, g.a
	w.mu.Lock()
	a.children++
	w.mu.Unlock()
	f()
	w.mu.Lock()
	a.children--
	over := a.children == 0 && a.orphaned
	w.mu.Unlock()
	if over {
		w.end(a, ErrKilled)
	}
}

// KillOne is Kill of a process without its child: a process that waits for a child does nothing
// else, so that it ends when the child has. It reports whether there was a child.
func (w *World) KillOne(id ActorID) (child bool) {
	w.mu.Lock()
	a := w.actors[id]
	if a != nil && a.children > 0 {
		a.orphaned = true
		w.mu.Unlock()
		return true
	}
	w.mu.Unlock()
	if a != nil {
		w.end(a, ErrKilled)
	}
	return false
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

// Incarnations returns how many processes have had the name.
func (w *World) Incarnations(id ActorID) int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.incarnations[id]
}

// Spawned lists the names of all processes that there have been, sorted.
func (w *World) Spawned() []ActorID {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.Sorted(maps.Keys(w.incarnations))
}

// Actors lists the processes that are alive, sorted.
func (w *World) Actors() []ActorID {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.Sorted(maps.Keys(w.actors))
}

func sortedActors(m map[ActorID]*Actor) []*Actor {
	return slices.SortedFunc(maps.Values(m), func(a, b *Actor) int { return cmp.Compare(a.ID, b.ID) })
}
