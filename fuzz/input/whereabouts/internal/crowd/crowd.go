// Package crowd generates the settings of a scenario with concurrent passes from bytes.
package crowd

import (
	"time"

	gofuzz "github.com/google/gofuzz"
)

// Crowd is the settings of a scenario with concurrent passes of the ip-reconciler during churn: few
// settings, but each of them freely variable. Eight bytes of an input are one field.
type Crowd struct {
	Pods, Nodes            Level // 1 to 6, 1 to 3
	Crons, Passes          Level // number of CronJobs, 0 to 3; each starts so many passes at the same time, 1 to 3
	Every, Overlap         Level // 1 to 12 s; the concurrency policy of the CronJobs
	AllNodes, Loop         Level // whether passes run on each node; whether the pod control loop runs, too
	Churn, Forced          Level // interval in which a pod is deleted, 1 to 8 s; how many of ten are deleted by force
	Pending, Start, Stop   Level // delays of a pod: until it has a network status; until it runs; until it has stopped
	Range, Overlapping     Level // /24 to /30; whether a second network has the same addresses
	Retry, Faults, Hazards Level // interval of retries for a sandbox, 2 to 10 s; limits, 0 to 3
}

// Level is one setting, 0 to 250. Lower values are plainer.
type Level uint8

// levels is a prime, so that every bit of the eight bytes matters.
const levels = 251

// Pick returns one of n values.
func (l Level) Pick(n int) int { return int(l) % n }

// Spread returns a duration between two, with the same number of levels for each order of magnitude.
func (l Level) Spread(from, to time.Duration) time.Duration {
	d := from
	for range l {
		d += d / 36 // level 250 is about a thousand times level 0
		if d >= to {
			return to
		}
	}
	return d.Round(time.Millisecond)
}

// Chosen returns the settings for bytes.
func Chosen(world []byte) (c Crowd) {
	gofuzz.NewFromGoFuzz(world).Funcs(func(l *Level, b gofuzz.Continue) { *l = Level(b.Uint64() % levels) }).Fuzz(&c)
	return c
}

// Bytes is the inverse of Chosen.
func (c Crowd) Bytes() (world []byte) {
	for _, l := range []Level{
		0, // gofuzz uses the first eight bytes as the seed for values after the end of the input
		c.Pods, c.Nodes, c.Crons, c.Passes, c.Every, c.Overlap, c.AllNodes, c.Loop, c.Churn, c.Forced,
		c.Pending, c.Start, c.Stop, c.Range, c.Overlapping, c.Retry, c.Faults, c.Hazards,
	} {
		world = append(world, 0, 0, 0, 0, 0, 0, 0, byte(l))
	}
	return world
}
