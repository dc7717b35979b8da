package kube_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"ipamsim/sim"
	"ipamsim/sim/hermetic"
)

// Several processes, each with informers of several goroutines, and one watch that breaks: on the
// generated runtime the same schedule gives the same trace and the same store, whatever else the
// machine does.
func TestInformersRepeat(t *testing.T) {
	if !hermetic.Enabled {
		t.Skip("needs the generated runtime")
	}
	story := func() string {
		trace, digest := simulate(t, &hurt{key: "EVENT MODIFIED", outcome: sim.Drop}, func(a *actor) {
			for i := range 4 {
				id := sim.ActorID(fmt.Sprint("watcher-", i))
				a.gate.World().Spawn(sim.Process{ID: id, Run: func(ctx context.Context, g *sim.Gate) error {
					var heard []string
					w := newActor(ctx, a.cluster, g)
					informed(w, time.Minute, &heard)
					p := pod("", "a")
					p.GenerateName = string(id) + "-"
					must(w.mine.CoreV1().Pods("default").Create(ctx, p, metav1.CreateOptions{}))
					<-ctx.Done()
					return nil
				}})
			}
			change(a)
		})
		return fmt.Sprintf("%x %s", trace.Digest(), digest)
	}
	foreign := hermetic.Foreign()
	first := story()
	t.Log(first)
	for range 5 {
		if again := story(); again != first {
			t.Fatalf("%s, then %s", first, again)
		}
	}
	if n := hermetic.Foreign() - foreign; n != 0 {
		t.Errorf("%d wake-ups from outside a bubble that no pin covers", n)
	}
}
