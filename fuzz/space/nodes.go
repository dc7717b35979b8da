package space

import "fmt"

// Machines draws the nodes. There are few, because no failure so far needed five of them.
func (w *World) Machines(from, to int) {
	for i := range w.Between(from, to) {
		w.Nodes = append(w.Nodes, fmt.Sprintf("worker-%d", i+1))
	}
	w.Doc.Spec.Nodes = w.Nodes
}

// Node draws one of the nodes that exist from the start.
func (w *World) Node() string { return Pick(w.Choices, w.Nodes...) }

// newcomer returns a name that no node has had.
func (w *World) newcomer() string {
	w.Came++
	return fmt.Sprintf("worker-%d", len(w.Nodes)+w.Came)
}
