package gate

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"ipamsim/cmd/managers"
	"ipamsim/fuzz/process"
	"ipamsim/scenarios"
)

// TestMain lets this binary be the worker processes of a gate, as ipamsim is.
func TestMain(m *testing.M) {
	if os.Args[0] != "ipamsim" {
		os.Exit(m.Run())
	}
	beforeRun = blow
	scenarios.Tune()
	err := process.Run(os.Args[2], func() { os.Exit(0) }, func(in io.Reader, out io.Writer) error {
		return ServeWorker(context.Background(), managers.All(), in, out, os.Args[2])
	})
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(0)
}

// dieEnv is the blow that a test deals out: FILE:SEED:KIND. Of "once=DIR" the process
// dies a single time, which a file in DIR knows.
const dieEnv = "IPAMSIM_TEST_DIE"

func blow(file string, seed uint64) {
	at, kind, _ := strings.Cut(os.Getenv(dieEnv), ",")
	if at != filepath.Base(file)+":"+strconv.FormatUint(seed, 10) {
		return
	}
	switch {
	case kind == "exit":
		os.Exit(3)
	case kind == "panic":
		done := make(chan bool)
		go func() { defer close(done); panic("ours") }()
		<-done
	case kind == "wait":
		select {}
	case strings.HasPrefix(kind, "once="):
		f, err := os.OpenFile(filepath.Join(strings.TrimPrefix(kind, "once="), "died"), os.O_CREATE|os.O_EXCL, 0o600)
		if err == nil {
			_ = f.Close()
			_ = syscall.Kill(os.Getpid(), syscall.SIGTERM)
			select {}
		}
	}
}
