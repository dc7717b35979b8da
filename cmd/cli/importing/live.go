package importing

import (
	"context"
	"fmt"
	"io"
	"time"

	"ipamsim/scenarios/dump"
	"ipamsim/scenarios/dump/live"
)

// readLive reads the running cluster of a kubeconfig into c.
func readLive(ctx context.Context, c *dump.Cluster, kubeconfig, kubeContext string, stderr io.Writer) error {
	l, err := live.Open(kubeconfig, kubeContext)
	if err != nil {
		return err
	}
	fmt.Fprintf(stderr, "ipamsim: reading %s\n", l)
	last := time.Now()
	return l.Read(ctx, c, func(p live.Progress) {
		if time.Since(last) > time.Second {
			last = time.Now()
			fmt.Fprintf(stderr, "ipamsim: %d objects, reading %s\n", p.Objects, p.Kind)
		}
	})
}
