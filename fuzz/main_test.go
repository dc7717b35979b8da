package fuzz_test

import (
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"
)

// TestMain sums up what the worker processes of go test -fuzz did, which cannot
// speak for themselves.
func TestMain(m *testing.M) {
	flag.Parse()
	os.Exit(run(m))
}

func run(m *testing.M) (code int) {
	fail := func(err error) {
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			code = max(code, 1)
		}
	}
	fuzzing := flag.Lookup("test.fuzz").Value.String()
	coordinator := fuzzing != "" && flag.Lookup("test.fuzzworker").Value.String() != "true"
	if coordinator {
		dir, err := os.MkdirTemp("", "ipamsim-fuzz-")
		if err != nil {
			fail(err)
			return code
		}
		defer func() { fail(os.RemoveAll(dir)) }()
		fail(os.Setenv(tallyEnv, dir))
	}
	code = m.Run()
	if coordinator {
		t, err := sumTallies()
		fail(err)
		fmt.Printf("%s: %s\n", strings.Trim(fuzzing, "^$"), t)
	}
	if started {
		r, err := runner()
		fail(err)
		fail(r.Close())
	}
	return code
}
