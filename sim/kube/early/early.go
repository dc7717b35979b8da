// Package early saves globals that Kubernetes' packages change during initialization. It
// imports only the owners of these globals, so that it is initialized first.
package early

import (
	"sync"
	_ "unsafe" // for linkname

	"k8s.io/client-go/util/workqueue"
)

//go:linkname metrics k8s.io/client-go/util/workqueue.globalMetricsProvider
var metrics workqueue.MetricsProvider

// none is the metrics provider of a program that registers none.
var none = metrics

// quiet counts the processes that now create work queues without metrics, and holds the
// replaced provider: two may start at the same time.
var quiet struct {
	sync.Mutex
	n      int
	before workqueue.MetricsProvider
}

// QuietQueues disables metrics of new work queues until the returned function is called: with
// metrics each queue has a goroutine that checks it twice a second, forever.
func QuietQueues() (restore func()) {
	quiet.Lock()
	defer quiet.Unlock()
	if quiet.n++; quiet.n == 1 {
		quiet.before, metrics = metrics, none
	}
	return func() {
		quiet.Lock()
		defer quiet.Unlock()
		if quiet.n--; quiet.n == 0 {
			metrics = quiet.before
		}
	}
}
