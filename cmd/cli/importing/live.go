package importing

import (
	"ipamsim/scenarios/dump"
	"ipamsim/scenarios/dump/live"
)

// readLive reads the running cluster of a kubeconfig into c.
func readLive(w *session, c *dump.Cluster, kubeconfig, kubeContext string) error {
	l, err := live.Open(kubeconfig, kubeContext)
	if err != nil {
		return err
	}
	w.say("reading %s", l)
	w.begin("reading %s", l)
	return l.Read(w.ctx, c, func(p live.Progress) { w.count("%d objects, now %s", p.Objects, p.Kind) })
}
