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

// How often a kubelet looks whether what it has to say of its node is new, and how often
// it says it nevertheless.
//
// Source: pkg/kubelet/apis/config/v1beta1, SetDefaults_KubeletConfiguration (v1.37.2).
const (
	lookEvery = 10 * time.Second
	tellEvery = 5 * time.Minute
)

// report sends a kubelet's node status for as long as the kubelet runs.
//
// Source: pkg/kubelet/kubelet_node_status.go, tryUpdateNodeStatus (v1.37.2).
func (c *controllers) report(ctx context.Context, g *sim.Gate, name string) error {
	api := kubeapi.New(c.API.Transport(g))
	told := time.Now()
	tick := time.NewTicker(lookEvery)
	defer tick.Stop()
	for {
		n, _ := c.Stored.Node(name)
		if n != nil && (time.Since(told) >= tellEvery || !isReady(n) || lacks(n)) {
			if api.Patch(kube.WithClass(ctx, "status"), kubeapi.Nodes.Path("", name)+"/status", kubeapi.StrategicPatch, statusOf(n, true)) == nil {
				told = time.Now()
			}
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// complete stores what a node's kubelet would have said of it and its manifest does not.
func (c *controllers) complete(n *corev1.Node) error {
	if !lacks(n) {
		return nil
	}
	api := kubeapi.New(c.API.Direct())
	return api.Patch(context.Background(), kubeapi.Nodes.Path("", n.Name)+"/status", kubeapi.StrategicPatch, statusOf(n, isReady(n)))
}

// pressures are the conditions of a node that is well, beside its readiness.
var pressures = []corev1.NodeConditionType{corev1.NodeMemoryPressure, corev1.NodeDiskPressure, corev1.NodePIDPressure}

func isReady(n *corev1.Node) bool {
	return condition(n, corev1.NodeReady).Status == corev1.ConditionTrue
}

// lacks reports whether a kubelet has more to say of a node than is stored.
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

// statusOf is the patch of a node's status as its kubelet makes it: that it is ready, if
// it is, and what the machine has.
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
