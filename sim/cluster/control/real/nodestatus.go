package real

import (
	"context"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"ipamsim/sim"
	"ipamsim/sim/cluster/control"
	"ipamsim/sim/cluster/kubeapi"
	"ipamsim/sim/kube"
)

// A kubelet checks every checkEvery whether the status of its node has changed, and reports
// an unchanged status every reportEvery.
//
// Source: pkg/kubelet/apis/config/v1beta1, SetDefaults_KubeletConfiguration (v1.37.2).
const (
	checkEvery  = 10 * time.Second
	reportEvery = 5 * time.Minute
)

// report sends a kubelet's node status for as long as the kubelet runs.
//
// Source: pkg/kubelet/kubelet_node_status.go, tryUpdateNodeStatus (v1.37.2).
func (c *controllers) report(ctx context.Context, g *sim.Gate, name string) error {
	api := kubeapi.New(c.API.Transport(g))
	reported := time.Now()
	tick := time.NewTicker(checkEvery)
	defer tick.Stop()
	for {
		n, _ := c.Stored.Node(name)
		if n != nil && (time.Since(reported) >= reportEvery || !isReady(n) || lacks(n)) {
			if api.Patch(kube.WithClass(ctx, "status"), kubeapi.Nodes.Path("", name)+"/status", kubeapi.StrategicPatch, statusOf(n, true)) == nil {
				reported = time.Now()
			}
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// complete stores the status that a kubelet would report and that the manifest lacks.
func (c *controllers) complete(n *corev1.Node) error {
	if !lacks(n) {
		return nil
	}
	api := kubeapi.New(c.API.Direct())
	return api.Patch(context.Background(), kubeapi.Nodes.Path("", n.Name)+"/status", kubeapi.StrategicPatch, statusOf(n, isReady(n)))
}

// pressures are the conditions, other than Ready, that a healthy node reports as False.
var pressures = []corev1.NodeConditionType{corev1.NodeMemoryPressure, corev1.NodeDiskPressure, corev1.NodePIDPressure}

func isReady(n *corev1.Node) bool {
	return condition(n, corev1.NodeReady).Status == corev1.ConditionTrue
}

// lacks reports whether the stored node lacks a part of the status that a kubelet reports.
func lacks(n *corev1.Node) bool {
	return n.Status.Allocatable.Pods().IsZero() || slices.ContainsFunc(pressures, func(t corev1.NodeConditionType) bool {
		return condition(n, t).Status != corev1.ConditionFalse
	})
}

func condition(n *corev1.Node, t corev1.NodeConditionType) corev1.NodeCondition {
	if i := slices.IndexFunc(n.Status.Conditions, func(c corev1.NodeCondition) bool { return c.Type == t }); i >= 0 {
		return n.Status.Conditions[i]
	}
	return corev1.NodeCondition{Type: t}
}

// statusOf is a kubelet's patch of its node's status: conditions, with Ready if the node is
// ready, and the resources of the machine.
func statusOf(n *corev1.Node, ready bool) any {
	now := metav1.Now()
	var conditions []corev1.NodeCondition
	set := func(t corev1.NodeConditionType, to corev1.ConditionStatus, reason string) {
		was := condition(n, t)
		c := corev1.NodeCondition{Type: t, Status: to, Reason: reason, LastHeartbeatTime: now, LastTransitionTime: was.LastTransitionTime}
		if was.Status != to || was.LastTransitionTime.IsZero() {
			c.LastTransitionTime = now
		}
		conditions = append(conditions, c)
	}
	set(corev1.NodeMemoryPressure, corev1.ConditionFalse, "KubeletHasSufficientMemory")
	set(corev1.NodeDiskPressure, corev1.ConditionFalse, "KubeletHasNoDiskPressure")
	set(corev1.NodePIDPressure, corev1.ConditionFalse, "KubeletHasSufficientPID")
	if ready {
		set(corev1.NodeReady, corev1.ConditionTrue, "KubeletReady")
	}
	has := control.Machine()
	for what, n := range n.Status.Capacity {
		has[what] = n
	}
	for what, n := range n.Status.Allocatable {
		has[what] = n
	}
	return map[string]any{"status": map[string]any{"conditions": conditions, "capacity": has, "allocatable": has}}
}
