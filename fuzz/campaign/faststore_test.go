package campaign

import (
	"os"
	"strings"
	"testing"

	"ipamsim/fuzz/campaign/queue"
	"ipamsim/fuzz/process"
	"ipamsim/reports"
	"ipamsim/scenarios"
)

// otherStoreEnv makes a worker process report another store in memory than etcd has.
const otherStoreEnv = "IPAMSIM_TEST_OTHER_STORE"

func otherStore(rep *reports.Report) {
	if os.Getenv(otherStoreEnv) != "" {
		rep.StoreDigest = "of another store"
	}
}

// question and reply are the requests and replies of a worker process, as far as the test needs them.
type (
	question struct {
		Spec      *queue.Spec `json:",omitempty"`
		Seed      uint64
		Signature string `json:",omitempty"`
	}
	reply struct {
		Hits   []struct{ Signature string }
		Defect string
		Kept   []queue.Kept
	}
)

func (*reply) Stuck() (cause, stacks string) { return "", "" }

// A failure that etcd does not show is a defect of the store in memory, and no finding.
func TestFailureOfTheFastStore(t *testing.T) {
	spec := flakySpec("duplicate-address")
	spec.Store = scenarios.Memory
	start := func(more ...string) *process.Handle {
		k, err := process.Start(t.TempDir(), append(os.Environ(), more...), "worker-process")
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(k.Kill)
		if err := k.Send(question{Spec: &spec}); err != nil {
			t.Fatal(err)
		}
		return k
	}
	ask := func(k *process.Handle, q question) *reply {
		a := &reply{}
		if d := k.Ask(t.Context(), q, a); d != nil {
			t.Fatalf("%+v: %s", q, d.Cause)
		}
		return a
	}
	k := start()
	for seed := uint64(1); seed < 30; seed++ {
		all := ask(k, question{Seed: seed}).Hits
		if len(all) == 0 {
			continue
		}
		q := question{Seed: seed, Signature: all[0].Signature}
		if a := ask(k, q); len(a.Kept) != 1 || a.Defect != "" {
			t.Errorf("what etcd shows as well: %d kept, %q", len(a.Kept), a.Defect)
		}
		if a := ask(start(otherStoreEnv+"=yes"), q); len(a.Kept) != 0 || !strings.Contains(a.Defect, "the stores differ") {
			t.Errorf("what etcd does not show: %d kept, %q", len(a.Kept), a.Defect)
		}
		return
	}
	t.Error("no seed failed")
}
