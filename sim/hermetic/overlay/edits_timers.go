package overlay

// timerEdits make the order of a bubble's timers that are due at the same time, and the stopped
// timers that are still in the heap, depend only on the actions of the program. A select adds
// the timers that it waits for in the order of their addresses. So the order of due timers must
// depend neither on the order of adding nor on the shape of the heap.
var timerEdits = []edit{
	{
		"runtime/time.go", "no new rank when a timer is added again",
		"\t\t\tt.rand = cheaprand()\n",
		"\t\t\t// hermetic: the rank was drawn when the timer was made, or put to sleep.\n",
	},
	after("runtime/time.go", "rank of a timer",
		"\tif bubble := getg().bubble; bubble != nil {\n\t\tt.isFake = true\n",
		"\t\tt.rand = simcheaprand()\n"),
	before("runtime/time.go", "rank of a sleep",
		"\t\t// Call timer.reset in this goroutine, since it's the one in a bubble.\n",
		"\t\tt.rand = simcheaprand()\n"),
	// Whether a stopped timer is still in the heap decides whether a Reset to now fires
	// immediately. So only the head of the heap, which depends on the ranks alone, is cleaned,
	// even if the goroutine is preempted.
	{
		"runtime/time.go", "stopped timers leave by the head of the heap",
		"\t\tif gp.preemptStop {\n\t\t\treturn\n\t\t}\n",
		"\t\tbubbled := gp.bubble != nil && ts == &gp.bubble.timers\n\t\tif gp.preemptStop && !bubbled {\n\t\t\treturn\n\t\t}\n",
	},
	{
		"runtime/time.go", "stopped timers do not leave by the tail",
		"\t\tif t := ts.heap[n-1].timer; t.astate.Load()&timerZombie != 0 {\n",
		"\t\tif t := ts.heap[n-1].timer; !bubbled && t.astate.Load()&timerZombie != 0 {\n",
	},
	{
		"runtime/time.go", "or all together, when the bubble is idle: look",
		"\tforce := ts == &getg().m.p.ptr().timers &&",
		"\tforce := (bubble != nil || ts == &getg().m.p.ptr().timers) &&",
	},
	{
		"runtime/time.go", "or all together, when the bubble is idle",
		"\t\tforce = ts == &getg().m.p.ptr().timers &&",
		"\t\tforce = (bubble != nil || ts == &getg().m.p.ptr().timers) &&",
	},
	// Sorting by address leaves the cases of one channel in an order that depends on
	// where the other channels are.
	before("runtime/select.go", "cases of one channel stay in the order of the draw",
		"\tif debugSelect {\n\t\tfor i := 0; i+1 < len(lockorder); i++ {\n",
		"\tif gp.bubble != nil {\n\t\tsimcases(scases, pollorder, lockorder)\n\t}\n\n"),
	{
		"time/zoneinfo.go", "local time is UTC in a bubble",
		"\tif l == &localLoc {\n\t\tlocalOnce.Do(initLocal)\n",
		"\tif l == &localLoc {\n\t\tif runtimeIsBubbled() {\n\t\t\treturn &utcLoc\n\t\t}\n\t\tlocalOnce.Do(initLocal)\n",
	},
}
