package disk_test

import (
	"context"
	"fmt"
	"os"

	"ipamsim/sim"
	"ipamsim/sim/disk"
	"ipamsim/sim/strategy"
)

// A process creates a file on its node; the machine loses power. The file's name was on the
// disk, its content was not yet.
func Example() {
	_, err := sim.Run(context.Background(), sim.Options{Strategy: strategy.NewSerial()}, func(w *sim.World) error {
		d := disk.New(w, "node-a")
		w.Spawn(sim.Process{ID: "plugin", Group: "node-a", Run: func(ctx context.Context, g *sim.Gate) error {
			f, err := d.Process(ctx, g).OpenFile("/var/lib/cni/10.0.0.2", os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
			if err != nil {
				return err
			}
			if _, err := f.WriteString("container-1"); err != nil {
				return err
			}
			w.KillGroup("node-a")
			d.PowerLoss(disk.Loss{Data: disk.AllData})
			w.Finish()
			return nil
		}})
		w.Hooks.Step = func(s *sim.Step) { fmt.Println(s.Choice.Op.Key) }
		w.Hooks.End = func() {
			info, err := d.Process(context.Background(), nil).Stat("/var/lib/cni/10.0.0.2")
			if err == nil {
				fmt.Println("after the loss of power:", info.Size(), "bytes")
			}
		}
		return nil
	})
	if err != nil {
		fmt.Println(err)
	}
	// Output:
	// CREATE files/node-a/var/lib/cni/10.0.0.2
	// WRITE files/node-a/var/lib/cni/10.0.0.2
	// after the loss of power: 0 bytes
}
