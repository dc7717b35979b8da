package fuzz_test

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"

	"ipamsim/cmd/managers"
	"ipamsim/fuzz/gate"
	"ipamsim/fuzz/process"
	"ipamsim/fuzz/verify"
)

// workerProcess runs this binary as a worker process of a gate or of a verification, in dir, and
// ends the process.
func workerProcess(kind, dir string) {
	serve := verify.ServeWorker
	if kind == "gate-process" {
		serve, gate.BeforeRun = gate.ServeWorker, blow
	}
	err := process.Run(dir, func() { os.Exit(0) }, func(in io.Reader, out io.Writer) error {
		return serve(context.Background(), managers.All(), in, out, dir)
	})
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(0)
}

// dieEnv is when a worker process dies: FILE:SEED:KIND. With "once=DIR" it dies a single time,
// which a file in DIR records.
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
