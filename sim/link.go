package sim

// NewLink numbers a connection of the process, for Op.Link.
func (g *Gate) NewLink() int {
	g.w.mu.Lock()
	defer g.w.mu.Unlock()
	g.a.links++
	return g.a.links
}

// Cut ends a connection: Pass returns a Drop for every parked message of the connection, including
// requests. This makes no step. Hooks.Withdrawn is called for each message.
func (g *Gate) Cut(link int) {
	w := g.w
	w.mu.Lock()
	var cut []*parked
	rest := w.parked[:0:0]
	for _, p := range w.parked {
		if p.actor == g.a && p.op.Link == link {
			cut = append(cut, p)
		} else {
			rest = append(rest, p)
		}
	}
	w.parked = rest
	w.mu.Unlock()
	for _, p := range cut {
		p.verdict <- verdict{outcome: Drop}
		if w.Hooks.Withdrawn != nil {
			w.Hooks.Withdrawn(p.op)
		}
	}
	w.signal()
}
