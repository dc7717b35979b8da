package overlay

// durableEdits make waiting for a mutex a durable block of a bubble: the holder of the mutex is
// parked too, perhaps for hours of virtual time, with a message that waits at the gate. A pinned
// goroutine waits for a goroutine outside the bubble; virtual time does not pass until it
// continues.
var durableEdits = []edit{
	{
		"runtime/synctest.go", "a mutex wait is idle: before",
		"\t\tif gp.waitreason.isIdleInSynctest() {\n\t\t\twasRunning = false\n",
		"\t\tif simidle(gp) {\n\t\t\twasRunning = false\n",
	},
	{
		"runtime/synctest.go", "a mutex wait is idle: after",
		"\t\tif gp.waitreason.isIdleInSynctest() {\n\t\t\tisRunning = false\n",
		"\t\tif simidle(gp) {\n\t\t\tisRunning = false\n",
	},
	after("runtime/synctest.go", "mutex waits are counted",
		"\tlock(&bubble.mu)\n\tbubble.total += totalDelta\n",
		"\tsimcount(bubble, gp, oldval, newval)\n"),
	before("runtime/synctest.go", "a mutex may be held outside, which is no deadlock",
		"\t// Increment the bubble active count, since we've determined to wake something.\n",
		"\tif simstalled(bubble) {\n\t\treturn nil\n\t}\n"),
	after("runtime/synctest.go", "a mutex that is held outside gets real time",
		"\t\tif bubble.active < 0 {\n\t\t\tthrow(\"active < 0\")\n\t\t}\n",
		"\t\tif simsettle(bubble) {\n\t\t\tcontinue\n\t\t}\n"),
	{
		"runtime/traceback.go", "a mutex wait is durable in a stack",
		"\t\tgp.waitreason.isIdleInSynctest() &&\n",
		"\t\tsimidle(gp) &&\n",
	},
}
