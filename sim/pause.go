package sim

// Pause stops an actor, or a group of actors, as SIGSTOP does, until the matching Resume: its
// messages do not move, and it does not notice its deadlines.
func (w *World) Pause(name string) {
	w.mu.Lock()
	if w.paused[name] == nil {
		w.paused[name] = &pause{awake: make(chan struct{})}
	}
	w.paused[name].depth++
	w.mu.Unlock()
}

// Resume undoes one Pause.
func (w *World) Resume(name string) {
	w.mu.Lock()
	if p := w.paused[name]; p != nil {
		if p.depth--; p.depth == 0 {
			delete(w.paused, name)
			close(p.awake)
		}
	}
	w.mu.Unlock()
	w.signal()
}

// pause is kept as long as an actor or a group is paused.
type pause struct {
	depth int
	awake chan struct{} // closed when it is over
}

// asleep is closed when the actor is resumed; nil if it is not paused.
func (w *World) asleep(a *Actor) <-chan struct{} {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, name := range []string{string(a.ID), a.Group} {
		if p := w.paused[name]; p != nil {
			return p.awake
		}
	}
	return nil
}
