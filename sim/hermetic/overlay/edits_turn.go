package overlay

// stateEdits give goroutines and bubbles the fields that runtime/sim.go.txt
// works with.
var stateEdits = []edit{
	after("runtime/runtime2.go", "fields of a goroutine",
		"\tbubble  *synctestBubble\n",
		"\tsimrng  uint64 // random stream, seeded by the creator\n"+
			"\tsimid   uint64 // the seed of that stream\n"+
			"\tsimhold bool   // parked without giving up the turn\n"+
			"\tsimpin  bool   // keep the turn in calls that leave the bubble\n"+
			"\tsimproc *simProcess // the simulated process that it belongs to\n"+
			"\tsimdoomed bool // exits instead of waking up\n"),
	after("runtime/synctest.go", "fields of a bubble",
		"type synctestBubble struct {\n",
		"\tsim     simBubble\n"),
}

// stackEdits start goroutines with the stack size that a request to the API server needs, instead
// of the average of all goroutines: doubling from 4 KiB copies the stack four times, and there is a
// goroutine for each request. The collector halves unused stacks.
var stackEdits = []edit{
	{
		"runtime/stack.go", "goroutines start with 64 KiB",
		"var startingStackSize uint32 = fixedStack\n",
		"var startingStackSize uint32 = 64 << 10\n",
	},
	{
		"runtime/runtime1.go", "and the collector does not change that",
		"\tdebug.adaptivestackstart = 1 ",
		"\tdebug.adaptivestackstart = 0 ",
	},
}

// turnEdits let one goroutine of a bubble run at a time. The turn is taken
// where a goroutine becomes runnable and given up where it parks, exits or
// yields.
var turnEdits = []edit{
	{
		"runtime/synctest.go", "a bubble starts with the turn taken",
		"\tgp.bubble = bubble\n\tdefer func() {\n\t\tgp.bubble = nil\n",
		"\tgp.bubble = bubble\n\tsimstart(gp, bubble)\n\tdefer func() {\n\t\tgp.bubble = nil\n\t\tsimstop(gp, bubble)\n",
	},
	{
		"runtime/synctest.go", "the bubble's main goroutine queues",
		"\t\trunqput(pp, bubble.main, true)\n",
		"\t\tif !simput(bubble.main) {\n\t\t\trunqput(pp, bubble.main, true)\n\t\t}\n",
	},
	{
		"runtime/proc.go", "a woken goroutine queues",
		"\trunqput(mp.p.ptr(), gp, next)\n",
		"\tif !simput(gp) {\n\t\trunqput(mp.p.ptr(), gp, next)\n\t}\n",
	},
	{
		"runtime/proc.go", "a new goroutine queues",
		"\t\trunqput(pp, newg, true)\n",
		"\t\tif !simput(newg) {\n\t\t\trunqput(pp, newg, true)\n\t\t}\n",
	},
	after("runtime/proc.go", "a new goroutine gets its stream",
		"\t\tnewg.bubble = callergp.bubble\n",
		"\t\tsimborn(newg, callergp)\n"),
	// simhold is set before the status changes: from then on a waker may read it.
	before("runtime/proc.go", "parking: keep or give up",
		"\tif bubble != nil {\n\t\tbubble.incActive()\n\t}\n\n\tif trace.ok() {\n",
		"\tsimkeep := bubble != nil && simholds(gp)\n\tgp.simhold = simkeep\n"),
	// decActive may wake the bubble's root: it must be in the queue when the turn passes on.
	{
		"runtime/proc.go", "parking: pass on",
		"\t\tbubble.decActive()\n\t}\n\n\tschedule()\n",
		"\t\tbubble.decActive()\n\t\tif !simkeep {\n\t\t\tsimyield(bubble)\n\t\t}\n\t}\n\n\tschedule()\n",
	},
	// Before gdestroy, which never returns for a goroutine locked to its thread.
	before("runtime/proc.go", "exit passes the turn on",
		"\tgdestroy(gp)\n\tschedule()\n",
		"\tif gp.bubble != nil {\n\t\tsimyield(gp.bubble)\n\t}\n"),
	before("runtime/proc.go", "Gosched passes the turn on",
		"\tif preempted && sched.gcwaiting.Load() {\n",
		"\tif !preempted && simrotate(gp) {\n\t\tschedule()\n\t}\n"),
	{
		"runtime/proc.go", "handing over a starved mutex passes the turn on",
		"\tdropg()\n\trunqput(pp, gp, false)\n",
		"\tdropg()\n\tif !simrotate(gp) {\n\t\trunqput(pp, gp, false)\n\t}\n",
	},
	before("runtime/proc.go", "a goroutine stopped by the collector keeps the turn",
		"\tcasGToPreemptScan(gp, _Grunning, _Gscan|_Gpreempted)\n",
		"\tgp.simhold = true\n"),
	// Calls of Gosched inside the runtime come from the machine's timing, not from the program.
	{
		"runtime/proc.go", "preemption in a long clear keeps the turn",
		"\t\tgogo(&gp.sched) // never return\n\t}\n\tgoschedImpl(gp, false)\n",
		"\t\tgogo(&gp.sched) // never return\n\t}\n\tgoschedImpl(gp, true)\n",
	},
	{
		"runtime/mgcmark.go", "preemption in a GC assist keeps the turn",
		"\t\tif gp.preempt {\n\t\t\tGosched()\n",
		"\t\tif gp.preempt {\n\t\t\tmcall(gopreempt_m)\n",
	},
	{
		"runtime/mgc.go", "runtime.GC keeps the turn while it sweeps",
		"\tfor work.cycles.Load() == n+1 && sweepone() != ^uintptr(0) {\n\t\tGosched()\n",
		"\tfor work.cycles.Load() == n+1 && sweepone() != ^uintptr(0) {\n\t\tmcall(gopreempt_m)\n",
	},
	{
		"runtime/mgc.go", "runtime.GC keeps the turn while others sweep",
		"\tfor work.cycles.Load() == n+1 && !isSweepDone() {\n\t\tGosched()\n",
		"\tfor work.cycles.Load() == n+1 && !isSweepDone() {\n\t\tmcall(gopreempt_m)\n",
	},
}

// mutexEdits make the order in which goroutines get a sync.Mutex independent of the machine's clock
// and processors.
var mutexEdits = []edit{
	{
		"runtime/proc.go", "no spinning on a mutex",
		"\tif i >= active_spin || numCPUStartup <= 1",
		"\tif getg().bubble != nil || i >= active_spin || numCPUStartup <= 1",
	},
	after("runtime/sema.go", "a mutex starves by virtual time",
		"func internal_sync_nanotime() int64 {\n",
		"\tif b := getg().bubble; b != nil {\n\t\treturn b.now\n\t}\n"),
}
