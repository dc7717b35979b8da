package controlplane

import (
	"os"
	"os/signal"
	"sync"
	"syscall"

	"k8s.io/component-base/metrics/legacyregistry"
	cronjob "k8s.io/kubernetes/pkg/controller/cronjob/metrics"
	daemon "k8s.io/kubernetes/pkg/controller/daemon/metrics"
	garbagecollector "k8s.io/kubernetes/pkg/controller/garbagecollector/metrics"
	job "k8s.io/kubernetes/pkg/controller/job/metrics"
	"k8s.io/kubernetes/pkg/controller/nodelifecycle"
	podgc "k8s.io/kubernetes/pkg/controller/podgc/metrics"
	replicaset "k8s.io/kubernetes/pkg/controller/replicaset/metrics"
	statefulset "k8s.io/kubernetes/pkg/controller/statefulset/metrics"
	tainteviction "k8s.io/kubernetes/pkg/controller/tainteviction/metrics"
	ttlafterfinished "k8s.io/kubernetes/pkg/controller/ttlafterfinished/metrics"
	scheduler "k8s.io/kubernetes/pkg/scheduler/metrics"

	"ipamsim/sim/hermetic"
)

// Prepare runs upstream's once-per-process initialization, which in a bubble would belong to
// the bubble or shift its first run. Call it outside of bubbles.
var Prepare = sync.OnceFunc(func() {
	// The loop of signal.Notify starts at the first call.
	signal.Notify(unread, debuggerSignal)
	types()
	cronjob.Register()
	daemon.Register()
	statefulset.Register()
	garbagecollector.Register()
	job.Register()
	nodelifecycle.Register()
	podgc.RegisterMetrics()
	_ = replicaset.Register(legacyregistry.Register) // as the controller does; it panics even without an error
	tainteviction.Register()
	ttlafterfinished.Register()
	scheduler.Register()
})

// debuggerSignal makes the scheduler's debugger write its cache.
//
// Source: pkg/scheduler/backend/cache/debugger (v1.37.2).
const debuggerSignal = syscall.SIGUSR2

// unread receives the signal without effect. While it is registered, further registrations do
// not need the thread that manages signals.
var unread = make(chan os.Signal, 1)

// forgetDebugger unregisters the channel of a run's debugger, which needs the thread that
// manages signals: it belongs to no bubble.
func forgetDebugger() {
	hermetic.Pin(true)
	defer hermetic.Pin(false)
	signal.Reset(debuggerSignal)
	signal.Notify(unread, debuggerSignal)
}
