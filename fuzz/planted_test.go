package fuzz_test

import (
	"context"
	"os"
	"strings"
	"testing"

	"ipamsim/fuzz/input"
	"ipamsim/fuzz/known"
	"ipamsim/fuzz/settle"
	"ipamsim/sim/hermetic"
)

// A new failure is detected: the canary assigns an address twice, which is on no list. A failure on
// the list is not reported again, and a file that does not load is refused. A failure with a known
// signature, but another cause after shrinking, is detected, too.
func TestWhatIsNewIsCaught(t *testing.T) {
	if !hermetic.Enabled {
		t.Skip("SKIPPED: needs the hermetic build; run make test")
	}
	r, err := runner()
	if err != nil {
		t.Fatal(err)
	}
	planted, err := os.ReadFile("../cmd/cli/testdata/unexpected.yaml")
	if err != nil {
		t.Fatal(err)
	}
	listed := func(line string) known.Causes {
		k, err := known.Parse("list", line)
		if err != nil {
			t.Fatal(err)
		}
		return k
	}
	of := func(signature string) known.Causes { return listed(signature + " |  | seen: the canary's") }
	const signature = "duplicate-address, two-sandboxes, wrote cni-add canarypools new canary.(*client).try < canary.(*instance).Add"
	tests := []struct {
		name  string
		world string
		known known.Causes
		want  []string
	}{
		{"new", string(planted), known.Causes{}, []string{
			"NEW: duplicate-address (critical), on etcd too; no class of fuzz/testdata/known/whereabouts: " + signature,
			"10.0.0.1 is handed out AGAIN",
			"ipamsim finding fuzz/testdata/fuzz/FuzzWhereabouts/",
		}},
		{"another is known", string(planted), of("duplicate-address, two-sandboxes, wrote cni-add pods new"), []string{"NEW: duplicate-address"}},
		{"known", string(planted), of(signature), nil},
		{"shown by a scenario", string(planted), listed(signature + " |  | scenarios: the-canary"), nil},
		{"a scenario shows another cause with the same signature", string(planted), listed(signature + " | read pods, changed pods | scenarios: another"), []string{
			"NEW: duplicate-address (critical), on etcd too; no cause of fuzz/testdata/known/whereabouts: " + signature + "\n",
			"kind: Scenario",
		}},
		{"refused", strings.Replace(string(planted), "until: 30s", "until: never", 1), known.Causes{}, nil},
		{"nothing breaks", strings.Replace(string(planted), `, "bug": "duplicate-address"`, "", 1), known.Causes{}, nil},
	}
	for _, tt := range tests {
		signatures = settle.Signatures{}
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
	j := judge{ctx, r, "FuzzWhereabouts", input.Input{World: input.Choices(1)}, known.Causes{}}
	if err := j.judge(); err != nil || done.Cut != before+1 {
		t.Errorf("%d cut short, want one more than %d: %v", done.Cut, before, err)
	}
}
