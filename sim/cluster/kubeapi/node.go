package kubeapi

import (
	"encoding/json"
	"slices"

	corev1 "k8s.io/api/core/v1"
)

// NodeManifest is the Node as a kubelet would have registered it.
func NodeManifest(name string, labels map[string]string) json.RawMessage {
	return Manifest(NodeOf(name, labels))
}

// NodeOf is a Node that is ready.
func NodeOf(name string, labels map[string]string) *corev1.Node {
	n := &corev1.Node{}
	n.APIVersion, n.Kind, n.Name, n.Labels = "v1", "Node", name, labels
	n.Status.Conditions = []corev1.NodeCondition{{Type: corev1.NodeReady, Status: corev1.ConditionTrue, Reason: "KubeletReady"}}
	return n
}

// Manifest is a Node as JSON.
func Manifest(n *corev1.Node) json.RawMessage {
	b, err := json.Marshal(n)
	if err != nil {
		panic(err) // plain fields
	}
	return b
}

// Lacks reports whether a condition of a pod says False.
func Lacks(p *corev1.Pod, what corev1.PodConditionType) bool {
	return slices.ContainsFunc(p.Status.Conditions, func(c corev1.PodCondition) bool { return c.Type == what && c.Status == corev1.ConditionFalse })
}

// Unheard reports whether a node's own conditions say that its kubelet has been
// silent for long.
func Unheard(n *corev1.Node) bool {
	return n != nil && slices.ContainsFunc(n.Status.Conditions, func(c corev1.NodeCondition) bool {
		return c.Type == corev1.NodeReady && c.Status == corev1.ConditionUnknown
	})
}
