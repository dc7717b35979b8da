package calico

import (
	"context"
	"fmt"
	"testing"
	"time"
)

// A pod that is deleted by force, without CNI DEL, leaves its address behind. With
// upstream's grace period of 15 minutes the controller looks every 7.5 minutes.
// It hears of the deletion at once and notes the leak; it releases the address at
// the first look more than 15 minutes later.
func TestControllerReleasesALeak(t *testing.T) {
	for _, ds := range bothDatastores {
		t.Run(ds, func(t *testing.T) {
			gcPlay(t, gcRun{datastore: ds}, func(_ context.Context, w *gcWorld) {
				w.cluster("10.64.75.0/24", "a", "b")
				for i := range 3 {
					w.run(fmt.Sprintf("a-%d", i), "a")
				}
				w.run("b-0", "b")
				w.start(controllerName, "controller")
				time.Sleep(2 * time.Minute)
				w.vanish("a-1")
				took := w.when(time.Hour, func() bool { return w.allocations() == 3 })
				if took < 15*time.Minute || took > 23*time.Minute {
					t.Error("released after", took)
				}
				t.Log(took, w.record())
			})
		})
	}
}
