package campaign

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"ipamsim/cmd/managers"
	"ipamsim/fuzz/campaign/queue"
	"ipamsim/fuzz/campaign/worker"
	"ipamsim/fuzz/process"
	"ipamsim/scenarios"
)

// TestMain lets the test binary be any process of a campaign: a coordinator, a worker, or a worker
// process.
func TestMain(m *testing.M) {
	if os.Args[0] != "ipamsim" {
		os.Exit(m.Run())
	}
	var err error
	switch os.Args[1] {
	case "worker-process":
		worker.BeforeRun, worker.AfterRun = blow, otherStore
		scenarios.Tune()
		err = process.Run(os.Args[2], func() { os.Exit(0) }, func(in io.Reader, out io.Writer) error {
			return worker.Serve(context.Background(), managers.All(), in, out, os.Args[2])
		})
	case "worker":
		ctx, cancel := context.WithCancel(context.Background())
		go func() {
			_, _ = io.Copy(io.Discard, os.Stdin)
			cancel()
		}()
		l, _ := queue.LinkFromEnvironment()
		err = worker.Worker{Managers: managers.All(), Link: l, Parallel: 1, Once: true}.Run(ctx)
	case "coordinator":
		err = coordinate(os.Args[2])
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// coordinate runs the campaign whose configuration a test wrote into a file.
func coordinate(file string) error {
	var cfg struct {
		Spec    queue.Spec
		Runs    uint64
		Workers int
		Dir     string
		Points  string // a file for the points of a plan
	}
	b, err := os.ReadFile(file)
	if err == nil {
		err = json.Unmarshal(b, &cfg)
	}
	if err != nil {
		return err
	}
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM)
	defer stop()
	var lines bytes.Buffer
	o, err := Run(ctx, Config{Spec: cfg.Spec, Runs: cfg.Runs, Workers: cfg.Workers, Dir: cfg.Dir, Point: noted(&lines)})
	if err != nil {
		return err
	}
	if cfg.Points != "" {
		if err := os.WriteFile(cfg.Points, lines.Bytes(), 0o600); err != nil {
			return err
		}
	}
	b, err = json.Marshal(o)
	if err == nil {
		_, err = os.Stdout.Write(b)
	}
	return err
}

// noted writes the points of a plan, one line each: number and result.
func noted(w *bytes.Buffer) func(uint64, []byte) error {
	return func(n uint64, line []byte) error {
		_, err := fmt.Fprintf(w, "%d %s\n", n, line)
		return err
	}
}

// dieEnv is when a worker process dies: "SEED:KIND,SEED:KIND". For "once" it dies a single time, which a
// file in the test's directory records; for "homeless" it loses its own directory a single time.
const dieEnv = "IPAMSIM_TEST_DIE"

func blow(source int, seed uint64) {
	for _, b := range strings.Split(os.Getenv(dieEnv), ",") {
		at, kind, _ := strings.Cut(b, ":")
		if n, err := strconv.ParseUint(at, 10, 64); err != nil || n != seed || source == queue.CanarySource {
			continue
		}
		switch {
		case kind == "exit":
			os.Exit(3)
		case kind == "kill":
			_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
		case kind == "panic":
			done := make(chan bool)
			go func() { defer close(done); panic(fmt.Sprintf("seed %d is too much", seed)) }()
			<-done
		case strings.HasPrefix(kind, "once="):
			if f, err := os.OpenFile(filepath.Join(strings.TrimPrefix(kind, "once="), at), os.O_CREATE|os.O_EXCL, 0o600); err == nil {
				_ = f.Close()
				os.Exit(4)
			}
		case strings.HasPrefix(kind, "homeless="):
			if f, err := os.OpenFile(filepath.Join(strings.TrimPrefix(kind, "homeless="), at), os.O_CREATE|os.O_EXCL, 0o600); err == nil {
				_ = f.Close()
				_ = os.RemoveAll(os.Args[2])
			}
		}
	}
}
