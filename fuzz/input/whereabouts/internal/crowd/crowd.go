// Package crowd draws the settings of a world of concurrent passes from bytes.
package crowd

import (
	"time"

	gofuzz "github.com/google/gofuzz"
)

// Crowd is a world of concurrent passes of the ip-reconciler against churn: few
// things, but each of them at will. Eight bytes of an input make one field.
type Crowd struct {
	Pods, Nodes            Level // 1 to 6, 1 to 3
	Crons, Passes          Level // how many of them, 0 to 3; each starts so many passes at once, 1 to 3
	Every, Overlap         Level // 1 to 12 s; what a cron does if a pass still runs
	AllNodes, Loop         Level // a pass on each node; the pod control loop runs besides
	Churn, Forced          Level // a pod is deleted every 1 to 8 s; so many of ten by force
	Pending, Start, Stop   Level // how long a pod is without its network status; without running; ending
	Range, Overlapping     Level // /24 to /30; the same addresses in a second network
	Retry, Faults, Hazards Level // of a refused sandbox, 2 to 10 s; at most so many, 0 to 3
}

// Level is one setting, 0 to 250, the plainest first.
type Level uint8

// levels is a prime: every bit of the eight bytes counts.
const levels = 251

// Pick is one of n.
func (l Level) Pick(n int) int { return int(l) % n }

// Spread is a duration between two, each order of magnitude in as many levels.
func (l Level) Spread(from, to time.Duration) time.Duration {
	d := from
	for range l {
		d += d / 36 // the 250th is about a thousand times the first
		if d >= to {
			return to
		}
	}
	return d.Round(time.Millisecond)
}

// Chosen fills a crowd from bytes.
func Chosen(world []byte) (c Crowd) {
	gofuzz.NewFromGoFuzz(world).Funcs(func(l *Level, b gofuzz.Continue) { *l = Level(b.Uint64() % levels) }).Fuzz(&c)
	return c
}

// Bytes is the inverse of Chosen.
func (c Crowd) Bytes() (world []byte) {
	for _, l := range []Level{
		0, // which gofuzz keeps for when the bytes end
		c.Pods, c.Nodes, c.Crons, c.Passes, c.Every, c.Overlap, c.AllNodes, c.Loop, c.Churn, c.Forced,
		c.Pending, c.Start, c.Stop, c.Range, c.Overlapping, c.Retry, c.Faults, c.Hazards,
	} {
		world = append(world, 0, 0, 0, 0, 0, 0, 0, byte(l))
	}
	return world
}
