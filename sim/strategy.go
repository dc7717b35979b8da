package sim

// Strategy picks the next decision. It is the only source of choice in a run:
// random walks, replays, shrinkers and fuzzers are all ways to produce the same
// list of small integers.
type Strategy interface {
	// String is enough to rebuild the strategy: "timed(seed=7)".
	String() string
	// Begin starts run number n; false means that nothing is left to explore.
	Begin(n uint64) bool
	// Pick returns an index into enabled, which holds at least two choices
	// sorted by actor, message and outcome. The slice is reused between calls.
	Pick(step int, enabled []Choice) int
}

// Sizing reports whether enabled asks for the size of something already chosen
// (the length of a Delay, the way of a FailBefore or LoseReply, the answer of a Draw) and not
// for the next step: the choices differ in Level only.
func Sizing(enabled []Choice) bool { return enabled[len(enabled)-1].Outcome != Elapse }
