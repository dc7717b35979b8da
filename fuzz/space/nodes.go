package space

import "fmt"

// machines draws the nodes: few, because a failure that needs five of them has
// not been met yet.
func (w *world) machines(from, to int) {
	for i := range w.Between(from, to) {
		w.nodes = append(w.nodes, fmt.Sprintf("worker-%d", i+1))
	}
	w.doc.Spec.Nodes = w.nodes
}

// node draws one of the nodes that were there from the start.
func (w *world) node() string { return Pick(w.Choices, w.nodes...) }

// newcomer is a name that no node has had.
func (w *world) newcomer() string {
	w.came++
	return fmt.Sprintf("worker-%d", len(w.nodes)+w.came)
}
