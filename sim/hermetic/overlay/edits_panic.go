package overlay

// panicEdits make an unrecovered panic end the simulated process of its goroutine instead of the
// real process, and let a bubble end although goroutines of such a process are left
// (runtime/simprocess.go).
var panicEdits = []edit{
	// All deferred functions have run; from here on the real process only dies.
	before("runtime/panic.go", "a panic ends its simulated process",
		"\t// If we're tracing, flush the current generation to make the trace more\n\t// readable.\n",
		"\tsimcrash(gp, &p)\n\n"),
	after("runtime/proc.go", "what a dead process left does not wake up",
		"\t// can't do anything that might move the G between Ms here.\n\tmcall(park_m)\n",
		"\tif gp := getg(); gp.simdoomed {\n\t\tsimdie(gp)\n\t}\n"),
	before("runtime/synctest.go", "a bubble ends what dead processes left",
		"\ttotal := bubble.total\n\tunlock(&bubble.mu)\n",
		"\tsimreap(bubble)\n"),
}
