// Package workers has what commands share whose work is done by many processes: their flags,
// their progress, and the command worker.
package workers

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"
	"time"

	"github.com/spf13/cobra"

	"ipamsim/cmd/cli/exit"
	"ipamsim/fuzz/campaign/queue"
	"ipamsim/fuzz/campaign/worker"
	"ipamsim/reports"
	"ipamsim/scenarios"
)

func Command(m scenarios.Managers) *cobra.Command {
	var link queue.Link
	var parallel int
	cmd := &cobra.Command{
		Use:   "worker --nats URL",
		Short: "run work for a campaign on another machine",
		Long: `Run work for ipamsim explore --nats URL and ipamsim plan --nats URL until it is stopped.
It must be the same binary: runs of another build may differ.

Exit: 0 stopped · 2 could not work.`,
		Example: `  ipamsim worker --nats tls://nats.example.net:4222 --nats-creds campaign.creds`,
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if parallel < 1 {
				return fmt.Errorf("--workers: want at least 1, have %d", parallel)
			}
			if own, ok := queue.LinkFromEnvironment(); ok && link.URL == "" {
				return ownWorker(m, own, parallel)
			}
			if link.URL == "" {
				return errors.New("--nats: want the URL of ipamsim explore or plan")
			}
			if err := link.Check(); err != nil {
				return err
			}
			stderr := cmd.ErrOrStderr()
			ctx, stop := exit.Interruptible(stderr, func() {})
			defer stop()
			w := worker.Worker{Managers: m, Link: link, Parallel: parallel, Say: func(s string) { fmt.Fprintln(stderr, "ipamsim worker: "+reports.Clean(s)) }}
			return w.Run(ctx)
		},
	}
	LinkFlags(cmd, &link)
	cmd.Flags().IntVar(&parallel, "workers", runtime.NumCPU(), "run `N` at a time")
	return cmd
}

func LinkFlags(cmd *cobra.Command, l *queue.Link) {
	cmd.Flags().StringVar(&l.URL, "nats", "", "the NATS server with JetStream at `URL` (tls://HOST:PORT; nats:// on this machine)")
	cmd.Flags().StringVar(&l.Creds, "nats-creds", "", "file `F` with NATS credentials, as created by nsc")
}

// ownWorker is a worker that a coordinator started: it ends with the coordinator, which handles a
// Ctrl-C for the whole process group.
func ownWorker(m scenarios.Managers, l queue.Link, parallel int) error {
	exit.IgnoreInterrupts()
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	go func() {
		_, _ = io.Copy(io.Discard, os.Stdin)
		cancel()
	}()
	return worker.Worker{Managers: m, Link: l, Parallel: parallel, Once: true}.Run(ctx)
}

// Check validates the number of workers and the link.
func Check(here int, l *queue.Link) error {
	switch {
	case here < 0:
		return fmt.Errorf("--workers: want 0 or more, have %d", here)
	case here == 0 && l.URL == "":
		return errors.New("--workers: 0 requires --nats")
	case l.Creds != "" && l.URL == "":
		return errors.New("--nats-creds requires --nats")
	case l.URL != "":
		return l.Check()
	}
	return nil
}

// WindDownMax is what workers get to bring what they have.
const WindDownMax = 10 * time.Second
