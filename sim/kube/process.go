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

// prepare changes, once for the process, globals of Kubernetes that do not work in a bubble.
var prepare = sync.OnceFunc(func() {
	// The error handlers after the first log and back off. The back-off starts at the wall
	// clock of the program's start: in a bubble, which begins in the year 2000, every handled
	// error would sleep for 26 years.
	utilruntime.ErrorHandlers = nil
	// Each store would run a goroutine that estimates the size of its objects, for priority
	// and fairness, which is absent.
	if err := utilfeature.DefaultMutableFeatureGate.Set(string(features.SizeBasedListCostEstimate) + "=false"); err != nil {
		panic(err) // the feature was removed: drop the line
	}
	specs()
	clientfeatures.ReplaceFeatureGates(gates{clientfeatures.FeatureGates()})
	klog.SetLogger(logr.Discard()) // libraries do not log; a finding has a trace
})
