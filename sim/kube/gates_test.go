package kube_test

import (
	"strings"
	"testing"

	"k8s.io/klog/v2"

	"ipamsim/sim/kube"
)

// Feature gates are set for one run, and upstream logs of it neither then nor in the runs that
// follow.
func TestGatesAreQuiet(t *testing.T) {
	gates, err := kube.SetGates(map[string]bool{"InOrderInformersBatchProcess": false})
	if err != nil {
		t.Fatal(err)
	}
	gates.Undo()
	defer klog.CaptureState().Restore()
	var printed strings.Builder
	klog.LogToStderr(false)
	klog.SetOutput(&printed)
	klog.Info("of a run")
	klog.Flush()
	if printed.Len() > 0 {
		t.Errorf("%s", printed.String())
	}
	if unused := gates.Unused(); len(unused) != 1 {
		t.Errorf("unused: %v", unused)
	}
}
