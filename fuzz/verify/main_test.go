package verify

import (
	"context"
	"fmt"
	"os"
	"testing"

	"ipamsim/cmd/managers"
	"ipamsim/fuzz/cell"
	"ipamsim/scenarios"
)

// TestMain lets this binary be the cells of a search, as ipamsim is.
func TestMain(m *testing.M) {
	if os.Args[0] != "ipamsim" {
		os.Exit(m.Run())
	}
	scenarios.Tune()
	in, out := cell.Files()
	gone := func() {
		_ = os.RemoveAll(os.Args[2])
		os.Exit(0)
	}
	if err := ServeCell(context.Background(), managers.All(), cell.WhileAnybodyAsks(in, gone), out, os.Args[2]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(0)
}
