package main

// clockEdits give a goroutine of a bubble a wall clock of its own: a pointer to
// how far it is ahead of the bubble's, inherited by the goroutines it starts and
// by the timers it makes. Without one, time in the bubble is as it was.
//
// A time read from such a clock has a monotonic part again, as on a real machine:
// time.Since must not see the wall clock jump. synctest leaves it out because it
// cannot tell bubble from process; here startNano is a constant, so that the
// monotonic part, which people print, is the same in every process.
var clockEdits = []edit{
	before("runtime/time.go", "wall clock of a goroutine",
		"\t\tsec = bubble.now / (1000 * 1000 * 1000)\n",
		"\t\tif ahead := getg().simclock; ahead != nil {\n"+
			"\t\t\twall := bubble.now + *ahead\n"+
			"\t\t\treturn wall / 1e9, int32(wall % 1e9), bubble.now\n"+
			"\t\t}\n"),
	{
		"time/time.go", "monotonic time counts from the start of a bubble",
		"var startNano int64 = runtimeNano() - 1\n",
		"const startNano int64 = 946684800e9 - 1\n",
	},
	after("runtime/time.go", "clock of a timer: field",
		"\targ    any\n\tseq    uintptr\n",
		"\n\tsimclock *int64 // of the goroutine that made it\n"),
	after("runtime/time.go", "clock of a timer: made",
		"\tif bubble := getg().bubble; bubble != nil {\n\t\tt.isFake = true\n",
		"\t\tt.simclock = getg().simclock\n"),
	after("runtime/time.go", "clock of a timer: fires",
		"\t\tgp.bubble = bubble\n\t\tbubble.changegstatus(gp, _Gdead, _Grunning)\n",
		"\t\tgp.simclock = simclock\n"),
	before("runtime/time.go", "clock of a timer: known when it fires",
		"\tseq := t.seq\n\tvar next int64\n",
		"\tsimclock := t.simclock\n"),
	after("runtime/time.go", "clock of a timer: has fired",
		"\t\t\tracereleasemergeg(gp, bubble.raceaddr())\n\t\t}\n\t\tgp.bubble = nil\n",
		"\t\tgp.simclock = nil\n"),
}
