package overlay

// processEdits let a goroutine of a bubble belong to a simulated process, with all
// that it starts and the timers that it makes: a process has a wall clock of its
// own, a pointer to how far it is ahead of the bubble's. Without one, time in the
// bubble is as it was.
//
// A time read from such a clock has a monotonic part again, as on a real machine:
// time.Since must not see the wall clock jump. synctest leaves it out because it
// cannot tell bubble from process; here startNano is a constant, so that the
// monotonic part, which people print, is the same in every process.
var processEdits = []edit{
	before("runtime/time.go", "wall clock of a process",
		"\t\tsec = bubble.now / (1000 * 1000 * 1000)\n",
		"\t\tif p := getg().simproc; p != nil && p.ahead != nil {\n"+
			"\t\t\twall := bubble.now + *p.ahead\n"+
			"\t\t\treturn wall / 1e9, int32(wall % 1e9), bubble.now\n"+
			"\t\t}\n"),
	{
		"time/time.go", "monotonic time counts from the start of a bubble",
		"var startNano int64 = runtimeNano() - 1\n",
		"const startNano int64 = 946684800e9 - 1\n",
	},
	after("runtime/time.go", "process of a timer: field",
		"\targ    any\n\tseq    uintptr\n",
		"\n\tsimproc *simProcess // of the goroutine that made it\n"),
	after("runtime/time.go", "process of a timer: made",
		"\tif bubble := getg().bubble; bubble != nil {\n\t\tt.isFake = true\n",
		"\t\tt.simproc = getg().simproc\n"),
	after("runtime/time.go", "process of a timer: fires",
		"\t\tgp.bubble = bubble\n\t\tbubble.changegstatus(gp, _Gdead, _Grunning)\n",
		"\t\tgp.simproc = simproc\n"),
	before("runtime/time.go", "process of a timer: known when it fires",
		"\tseq := t.seq\n\tvar next int64\n",
		"\tsimproc := t.simproc\n"),
	after("runtime/time.go", "process of a timer: has fired",
		"\t\t\tracereleasemergeg(gp, bubble.raceaddr())\n\t\t}\n\t\tgp.bubble = nil\n",
		"\t\tgp.simproc = nil\n"),
	before("runtime/proc.go", "an exited goroutine keeps no process alive",
		"\tgp.bubble = nil\n\tgp.fipsOnlyBypass = false\n",
		"\tgp.simproc = nil\n"),
}
