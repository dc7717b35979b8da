package kube

import (
	"sync"
	"time"
	_ "unsafe" // for linkname

	"github.com/go-logr/logr"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/apiserver/pkg/features"
	utilfeature "k8s.io/apiserver/pkg/util/feature"
	_ "k8s.io/client-go/tools/cache" // owns neverExitWatch
	"k8s.io/klog/v2"
)

// neverExitWatch is the channel that an informer without resync waits for. It is
// made before any bubble, so a goroutine that selects on it is not durably
// blocked and virtual time never passes. A nil channel is as silent, and is.
//
//go:linkname neverExitWatch k8s.io/client-go/tools/cache.neverExitWatch
var neverExitWatch <-chan time.Time

// prepare changes, once for the process, what Kubernetes keeps in globals and
// what a bubble cannot bear.
var prepare = sync.OnceFunc(func() {
	neverExitWatch = nil
	// The handlers behind the first one log and back off. The back-off remembers
	// the wall clock at start-up: in a bubble, which begins in the year 2000,
	// every handled error would sleep for 26 years.
	utilruntime.ErrorHandlers = nil
	// Each store would run a goroutine that estimates the size of its objects,
	// for a priority queue of requests that is not here.
	if err := utilfeature.DefaultMutableFeatureGate.Set(string(features.SizeBasedListCostEstimate) + "=false"); err != nil {
		panic(err) // the feature is gone: drop the line
	}
	klog.SetLogger(logr.Discard()) // libraries do not log; a finding has a trace
})
