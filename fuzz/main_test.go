package fuzz_test

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"strings"
	"sync"
	"testing"

	"ipamsim/scenarios"
	"ipamsim/sim/etcd"
	"ipamsim/sim/scratch"
)

// scratchEnv names a directory that the processes of one go test -fuzz share. The first one removes
// it, because the others are killed.
const scratchEnv = "IPAMSIM_FUZZ_SCRATCH"

// runner and server exist once in a process. Go's fuzzer runs one input at a time in a process.
// etcd is started when it is first needed.
var (
	runner = sync.OnceValues(func() (*scenarios.Runner, error) {
		r, err := scenarios.NewRunnerIn(os.Getenv(scratchEnv), nil)
		if err == nil {
			toClose = append(toClose, r.Close)
		}
		return r, err
	})
	server = sync.OnceValues(func() (*etcd.Server, error) {
		s, err := etcd.StartIn(os.Getenv(scratchEnv))
		if err == nil {
			toClose = append(toClose, s.Close)
		}
		return s, err
	})
	toClose []func() error
)

// TestMain prints the sum of what the worker processes of go test -fuzz did, because they cannot
// print. It also lets the test binary be a worker process of ipamsim.
func TestMain(m *testing.M) {
	if os.Args[0] == "ipamsim" {
		workerProcess(os.Args[1], os.Args[2])
	}
	flag.Parse()
	code, err := run(m)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		code = max(code, 1)
	}
	os.Exit(code)
}

// targeted returns the target of go test -fuzz, or "".
func targeted() string { return strings.Trim(flag.Lookup("test.fuzz").Value.String(), "^$") }

func run(m *testing.M) (code int, err error) {
	target := targeted()
	first := target != "" && flag.Lookup("test.fuzzworker").Value.String() != "true"
	if first {
		room, err := scratch.New("fuzz")
		if err != nil {
			return 1, err
		}
		defer func() { _ = room.Remove() }()
		if err := os.Setenv(scratchEnv, room.Path); err != nil {
			return 1, err
		}
	}
	code = m.Run()
	for _, c := range toClose {
		err = errors.Join(err, c())
	}
	if first {
		t, e := sumTallies()
		fmt.Printf("%s: %s\n", target, t)
		err = errors.Join(err, e)
	}
	return code, err
}
