package space

import "fmt"

// Machines draws the nodes: few, because a failure that needs five of them has
// not been met yet.
func (w *World) Machines(from, to int) {
	for i := range w.Between(from, to) {
		w.Nodes = append(w.Nodes, fmt.Sprintf("worker-%d", i+1))
	}
	w.Doc.Spec.Nodes = w.Nodes
}

// Node draws one of the nodes that were there from the start.
func (w *World) Node() string { return Pick(w.Choices, w.Nodes...) }

// newcomer is a name that no node has had.
func (w *World) newcomer() string {
	w.Came++
	return fmt.Sprintf("worker-%d", len(w.Nodes)+w.Came)
}
