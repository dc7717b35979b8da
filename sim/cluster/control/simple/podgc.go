package simple

import "context"

// orphans removes the pods of nodes that are no longer stored.
//
// Source: pkg/controller/podgc, gcOrphaned (v1.37.2).
func (l *lifecycle) orphans(ctx context.Context) bool {
	ok := true
	for _, name := range l.c.Stored.Nodes() {
		n, gone := l.c.Stored.Node(name)
		if n != nil || !l.due(gone+l.c.Timers.PodGC) {
			continue
		}
		for _, p := range l.c.Stored.PodsOn(name) {
			ok = l.remove(ctx, p, "DeletionByPodGC", true) && ok
		}
	}
	return ok
}
