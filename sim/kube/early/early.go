// Package early keeps what Kubernetes' packages change when they are initialized. It
// imports nothing but the owner of what it keeps, so that it comes before them.
package early

import (
	_ "unsafe" // for linkname

	"k8s.io/client-go/util/workqueue"
)

//go:linkname metrics k8s.io/client-go/util/workqueue.globalMetricsProvider
var metrics workqueue.MetricsProvider

// none is the provider of a program that registers none.
var none = metrics

// QuietQueues lets work queues be made without metrics until the function that it returns
// is called: with them each has a goroutine that looks at it twice a second, for ever.
func QuietQueues() (restore func()) {
	before := metrics
	metrics = none
	return func() { metrics = before }
}
