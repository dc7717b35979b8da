package overlay

// processEdits assign a goroutine of a bubble to a simulated process, together with the
// goroutines that it starts and the timers that it creates. A process has its own wall clock: a
// pointer to its offset from the bubble's clock. Without a process the bubble's time is unchanged.
//
// A time read from such a clock has a monotonic reading, as on a real machine, because
// time.Since must not see jumps of the wall clock. synctest omits the monotonic reading because
// its base differs between the bubble and the real process. Here startNano is a constant, so that
// the monotonic reading, which programs may print, is the same in every real process.
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
