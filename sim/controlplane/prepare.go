package controlplane

import (
	"os"
	"os/signal"
	"sync"

	"k8s.io/component-base/metrics/legacyregistry"
	cronjob "k8s.io/kubernetes/pkg/controller/cronjob/metrics"
	garbagecollector "k8s.io/kubernetes/pkg/controller/garbagecollector/metrics"
	job "k8s.io/kubernetes/pkg/controller/job/metrics"
	"k8s.io/kubernetes/pkg/controller/nodelifecycle"
	podgc "k8s.io/kubernetes/pkg/controller/podgc/metrics"
	replicaset "k8s.io/kubernetes/pkg/controller/replicaset/metrics"
	tainteviction "k8s.io/kubernetes/pkg/controller/tainteviction/metrics"
	ttlafterfinished "k8s.io/kubernetes/pkg/controller/ttlafterfinished/metrics"
	scheduler "k8s.io/kubernetes/pkg/scheduler/metrics"
)

// Prepare does what upstream's packages do once in a process, which in a bubble would
// belong to it or shift its first run. Call it outside of bubbles.
var Prepare = sync.OnceFunc(func() {
	// The scheduler's debugger asks for this signal; the loop behind signal.Notify starts
	// at the first call.
	signal.Notify(make(chan os.Signal, 1), debuggerSignal)
	cronjob.Register()
	garbagecollector.Register()
	job.Register()
	nodelifecycle.Register()
	podgc.RegisterMetrics()
	_ = replicaset.Register(legacyregistry.Register) // as the controller does; it panics on no error either
	tainteviction.Register()
	ttlafterfinished.Register()
	scheduler.Register()
})
