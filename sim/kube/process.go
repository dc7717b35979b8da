package kube

import (
	"sync"

	"github.com/go-logr/logr"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/apiserver/pkg/features"
	utilfeature "k8s.io/apiserver/pkg/util/feature"
	clientfeatures "k8s.io/client-go/features"
	"k8s.io/client-go/util/workqueue"
	_ "k8s.io/component-base/metrics/prometheus/workqueue" // initialized before this package
	"k8s.io/klog/v2"
)

// The first work queue of a process registers the metrics of all, which starts goroutines:
// outside of bubbles, or the first run of a process differs from the others.
//
// Source: k8s.io/component-base/metrics/prometheus/workqueue, register (v0.37.2).
func init() {
	workqueue.NewTypedWithConfig(workqueue.TypedQueueConfig[string]{Name: "first"}).ShutDown()
}

// prepare changes, once for the process, what Kubernetes keeps in globals and
// what a bubble cannot bear.
var prepare = sync.OnceFunc(func() {
	// The handlers behind the first one log and back off. The back-off remembers
	// the wall clock at start-up: in a bubble, which begins in the year 2000,
	// every handled error would sleep for 26 years.
	utilruntime.ErrorHandlers = nil
	// Each store would run a goroutine that estimates the size of its objects,
	// for a priority queue of requests that is not here.
	if err := utilfeature.DefaultMutableFeatureGate.Set(string(features.SizeBasedListCostEstimate) + "=false"); err != nil {
		panic(err) // the feature is gone: drop the line
	}
	specs()
	clientfeatures.ReplaceFeatureGates(gates{clientfeatures.FeatureGates()})
	klog.SetLogger(logr.Discard()) // libraries do not log; a finding has a trace
})
