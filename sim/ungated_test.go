package sim_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"ipamsim/sim"
)

// free decides nothing and wants no gate; a message takes the first rung.
type free struct{}

func (free) String() string             { return "free()" }
func (free) Begin(n uint64) bool        { return n == 0 }
func (free) Ungated() bool              { return true }
func (free) Pick(int, []sim.Choice) int { return 0 }

// Without a gate messages arrive when they are sent, and are still steps of the
// trace that the hook sees one by one; a killed process sends nothing more, a
// held one nothing until it is released, and Draws are answered.
func TestUngated(t *testing.T) {
	var killed error
	var heldFor time.Duration
	reported, alive := 0, 0
	send := func(ctx context.Context, g *sim.Gate) error {
		return g.Pass(ctx, sim.Op{Kind: sim.Write, Key: "PUT"}, func(context.Context) error { return nil })
	}
	tr, err := sim.Run(context.Background(), sim.Options{Strategy: free{}}, func(w *sim.World) error {
		w.Hooks.Step = func(s *sim.Step) {
			if reported++; s.Step != reported {
				t.Errorf("the hook saw step %d as number %d", s.Step, reported)
			}
		}
		w.Spawn(sim.Process{ID: "busy", Run: func(ctx context.Context, g *sim.Gate) error {
			for range 50 {
				if err := send(ctx, g); err != nil {
					return err
				}
				alive++
			}
			_, err := g.Draw(ctx, "which", 3)
			return err
		}})
		w.Spawn(sim.Process{ID: "doomed", Run: func(ctx context.Context, g *sim.Gate) error {
			for {
				if killed = send(ctx, g); killed != nil {
					return killed
				}
				time.Sleep(time.Second)
			}
		}})
		w.Hold("paused")
		w.Spawn(sim.Process{ID: "paused", Run: func(ctx context.Context, g *sim.Gate) error {
			err := send(ctx, g)
			heldFor = w.Now()
			return err
		}})
		w.Spawn(sim.Process{ID: "operator", Run: func(ctx context.Context, g *sim.Gate) error {
			time.Sleep(3500 * time.Millisecond)
			w.Kill("doomed")
			w.Release("paused")
			time.Sleep(time.Second)
			w.Finish()
			return nil
		}})
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if alive != 50 || !errors.Is(killed, sim.ErrKilled) || heldFor < 3500*time.Millisecond {
		t.Errorf("%d messages, the killed one got %v, the held one went at %v", alive, killed, heldFor)
	}
	// 50 and a Draw of one, 4 of another (at 0, 1, 2 and 3 s), 1 of the third.
	if len(tr.Steps) != 56 || reported != 56 {
		t.Errorf("%d steps, %d of them reported, want 56", len(tr.Steps), reported)
	}
}
