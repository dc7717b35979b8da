package fuzz_test

import (
	"context"
	"os"
	"strings"
	"testing"

	"ipamsim/fuzz/input"
	"ipamsim/fuzz/known"
	"ipamsim/sim/hermetic"
)

// What is new is caught: the canary hands out an address twice, which no list
// knows. What is on the list is not told again, and what does not load is refused.
func TestWhatIsNewIsCaught(t *testing.T) {
	if !hermetic.Enabled {
		t.Skip("SKIPPED: needs the hermetic build; run make test")
	}
	r, err := runner()
	if err != nil {
		t.Fatal(err)
	}
	planted, err := os.ReadFile("../cmd/ipamsim/testdata/unexpected.yaml")
	if err != nil {
		t.Fatal(err)
	}
	const class = "duplicate-address | an address is handed out"
	tests := []struct {
		name  string
		world string
		known known.Classes
		want  []string
	}{
		{"new", string(planted), known.Classes{}, []string{
			"NEW: duplicate-address (critical), on etcd too; no class of fuzz/testdata/known/whereabouts: " + class,
			"10.0.0.1 is handed out AGAIN",
			"ipamsim finding fuzz/testdata/fuzz/FuzzWhereabouts/",
		}},
		{"another is known", string(planted), known.Classes{"duplicate-address | time": "x"}, []string{"NEW: duplicate-address"}},
		{"known", string(planted), known.Classes{class: "the canary's"}, nil},
		{"refused", strings.Replace(string(planted), "until: 30s", "until: never", 1), known.Classes{}, nil},
		{"nothing breaks", strings.Replace(string(planted), `, "bug": "duplicate-address"`, "", 1), known.Classes{}, nil},
	}
	for _, tt := range tests {
		j := judge{t.Context(), r, "FuzzWhereabouts", input.Input{World: []byte(tt.world)}, tt.known}
		got := j.judge()
		if (got == nil) != (tt.want == nil) {
			t.Errorf("%s: %v", tt.name, got)
			continue
		}
		for _, line := range tt.want {
			if !strings.Contains(got.Error(), line) {
				t.Errorf("%s: %v\nwant %s", tt.name, got, line)
			}
		}
	}
}

// A run that takes too long on a busy machine is cut short, and proves nothing.
func TestTooLongIsCutShort(t *testing.T) {
	if !hermetic.Enabled {
		t.Skip("SKIPPED: needs the hermetic build; run make test")
	}
	r, err := runner()
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	before := done.Cut
	j := judge{ctx, r, "FuzzWhereabouts", input.Input{World: input.Choices(1)}, known.Classes{}}
	if err := j.judge(); err != nil || done.Cut != before+1 {
		t.Errorf("%d cut short, want one more than %d: %v", done.Cut, before, err)
	}
}
