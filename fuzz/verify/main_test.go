package verify

import (
	"context"
	"fmt"
	"io"
	"os"
	"testing"

	"ipamsim/cmd/managers"
	"ipamsim/fuzz/process"
	"ipamsim/scenarios"
)

// TestMain lets this binary be the worker processes of a search, as ipamsim is.
func TestMain(m *testing.M) {
	if os.Args[0] != "ipamsim" {
		os.Exit(m.Run())
	}
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
