package sim_test

import (
	"context"
	"fmt"
	"os"
	"time"

	"ipamsim/sim"
	"ipamsim/sim/strategy"
)

// Two processes add one to a counter on a server. The seed decides the order of
// their messages, and with this one an update is lost.
func ExampleRun() {
	counter := 0
	add := func(ctx context.Context, g *sim.Gate) error {
		var n int
		err := g.Pass(ctx, sim.Op{Kind: sim.Read, Key: "GET counter"}, func(ctx context.Context) error {
			n = counter
			sim.Report(ctx, fmt.Sprint("counter=", n), nil)
			return nil
		})
		if err != nil {
			return err
		}
		return g.Pass(ctx, sim.Op{Kind: sim.Write, Key: "PUT counter"}, func(ctx context.Context) error {
			counter = n + 1
			sim.Report(ctx, fmt.Sprint("counter=", counter), nil)
			return nil
		})
	}
	o := sim.Options{Strategy: strategy.NewTimed(3, strategy.Settings{})}
	trace, err := sim.Run(context.Background(), o, func(w *sim.World) error {
		alice := w.Spawn(sim.Process{ID: "alice", Run: add})
		bob := w.Spawn(sim.Process{ID: "bob", Run: add})
		w.Spawn(sim.Process{ID: "judge", Run: func(context.Context, *sim.Gate) error {
			<-alice.Done()
			<-bob.Done()
			w.Finish()
			return nil
		}})
		return nil
	})
	_ = trace.Print(os.Stdout)
	fmt.Println("two updates, counter", counter, err)
	// Output:
	// 1 0.001820000 0/2 proceed bob#1 "GET counter" "counter=0"
	// 2 0.002840000 0/2 proceed alice#1 "GET counter" "counter=0"
	// 3 0.003280001 0/2 proceed bob#2 "PUT counter" "counter=1"
	// 4 0.003590001 0/2 proceed alice#2 "PUT counter" "counter=1"
	// two updates, counter 1 <nil>
}

// A node loses power: what its processes still try to send goes nowhere.
func ExampleWorld_KillGroup() {
	o := sim.Options{Strategy: strategy.NewSerial()}
	_, err := sim.Run(context.Background(), o, func(w *sim.World) error {
		w.Spawn(sim.Process{ID: "kubelet", Group: "node-1", Run: func(ctx context.Context, g *sim.Gate) error {
			defer func() {
				err := g.Pass(context.Background(), sim.Op{Key: "release the lease"}, func(context.Context) error { return nil })
				fmt.Println("release:", err)
			}()
			<-ctx.Done()
			return ctx.Err()
		}})
		w.Spawn(sim.Process{ID: "script", Run: func(context.Context, *sim.Gate) error {
			time.Sleep(time.Hour) // virtual
			fmt.Println(w.Now(), "node-1 loses power:", w.KillGroup("node-1"))
			w.Finish()
			return nil
		}})
		return nil
	})
	fmt.Println(err)
	// Unordered output:
	// 1h0m0s node-1 loses power: [kubelet]
	// release: sim: process killed
	// <nil>
}

// A partition keeps messages where they are until it heals.
func ExampleWorld_Hold() {
	o := sim.Options{Strategy: strategy.NewSerial()}
	_, err := sim.Run(context.Background(), o, func(w *sim.World) error {
		w.Hold("node-1")
		w.Spawn(sim.Process{ID: "kubelet", Group: "node-1", Run: func(ctx context.Context, g *sim.Gate) error {
			err := g.Pass(ctx, sim.Op{Key: "PATCH nodes/node-1"}, func(context.Context) error { return nil })
			fmt.Println("heard after", w.Now())
			w.Finish()
			return err
		}})
		w.Spawn(sim.Process{ID: "script", Run: func(context.Context, *sim.Gate) error {
			time.Sleep(time.Minute)
			w.Release("node-1")
			return nil
		}})
		return nil
	})
	fmt.Println(err)
	// Output:
	// heard after 1m0s
	// <nil>
}

// Chance comes from the schedule, and so it is replayed with it.
func ExampleGate_Draw() {
	replay := strategy.NewReplay([]int{0, 4}) // deliver the question; the fifth answer
	_, err := sim.Run(context.Background(), sim.Options{Strategy: replay}, func(w *sim.World) error {
		w.Spawn(sim.Process{ID: "churn", Run: func(ctx context.Context, g *sim.Gate) error {
			n, err := g.Draw(ctx, "which pod to delete", 6)
			fmt.Println("pod", n)
			w.Finish()
			return err
		}})
		return nil
	})
	fmt.Println(err, replay.Err())
	// Output:
	// pod 4
	// <nil> <nil>
}

// A call leaves the bubble and comes back; virtual time waits for it.
func ExampleOutside_Do() {
	out := sim.NewOutside(1)
	defer out.Close()
	o := sim.Options{Strategy: strategy.NewSerial()}
	_, err := sim.Run(context.Background(), o, func(w *sim.World) error {
		out.Do(func() { time.Sleep(time.Millisecond) }) // a real millisecond
		fmt.Println("virtual time passed:", w.Now())
		w.Finish()
		return nil
	})
	fmt.Println(err)
	// Output:
	// virtual time passed: 0s
	// <nil>
}

func ExampleParseStep() {
	s, err := sim.ParseStep(`12 1.532000001 2/7 lose-reply cni-add/web-2/net1#4 "PATCH ippools/10.0.0.0-24" "200 rv=17"`)
	fmt.Println(s.At, s.Choice.Outcome, s.Choice.Op, err)
	// Output:
	// 1.532000001s lose-reply cni-add/web-2/net1#4 PATCH ippools/10.0.0.0-24 <nil>
}
