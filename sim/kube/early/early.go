// Package early keeps what Kubernetes' packages change when they are initialized. It
// imports nothing but the owner of what it keeps, so that it comes before them.
package early

import (
	"sync"
	_ "unsafe" // for linkname

	"k8s.io/client-go/util/workqueue"
)

//go:linkname metrics k8s.io/client-go/util/workqueue.globalMetricsProvider
var metrics workqueue.MetricsProvider

// none is the provider of a program that registers none.
var none = metrics

// quiet counts those who have work queues made without metrics now, and keeps what they
// replaced: two processes that start at once are two of them.
var quiet struct {
	sync.Mutex
	n      int
	before workqueue.MetricsProvider
}

// QuietQueues lets work queues be made without metrics until the function that it returns
// is called: with them each has a goroutine that looks at it twice a second, forever.
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
