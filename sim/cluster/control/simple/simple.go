// Package simple is a cheap stand-in for Kubernetes' controllers and scheduler, following
// their sources as far as address managers can observe: one process each for the scheduler,
// for pods on silent and deleted nodes, and for every workload. They read the stored state
// without an informer's lag; each read is a message.
package simple

import (
	"sync"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"ipamsim/model"
	"ipamsim/sim/cluster/control"
	"ipamsim/sim/kube"
)

// controllers is the set. It implements control.Set.
type controllers struct {
	control.Env
	nodeChanged chan struct{}

	mu     sync.Mutex
	owners map[model.PodRef]string // uid of each stored workload, by KIND/NAME
}

// New returns the set. A workload gets its process as soon as it is stored.
func New(env control.Env) control.Set {
	env.Timers = env.Timers.OrDefault()
	return &controllers{Env: env, owners: map[model.PodRef]string{}, nodeChanged: make(chan struct{}, 1)}
}

// Start starts the scheduler and node-lifecycle.
func (c *controllers) Start() {
	c.startScheduler()
	c.startNodeLifecycle()
}

// MachineChanged triggers a sync of node-lifecycle.
func (c *controllers) MachineChanged() {
	select {
	case c.nodeChanged <- struct{}{}:
	default:
	}
}

// Changed starts the controller of a workload that is new.
func (c *controllers) Changed(ch kube.Change) {
	if p, ok := ch.Object.(*corev1.Pod); ok {
		n, _ := c.Stored.Node(p.Spec.NodeName)
		if before, ok := ch.Old.(*corev1.Pod); len(noExecute(n)) > 0 && (!ok || before.Spec.NodeName == "") {
			c.MachineChanged()
		}
		return
	}
	if ch.Resource == "nodes" {
		c.MachineChanged()
	}
	kind, ok := workloads[ch.Resource]
	if !ok {
		return
	}
	c.mu.Lock()
	key := model.PodRef{Namespace: ch.Namespace, Name: kind.name + "/" + ch.Name}
	if delete(c.owners, key); ch.Object != nil {
		c.owners[key] = string(meta(ch.Object).GetUID())
	}
	c.mu.Unlock()
	if ch.Object != nil && ch.Old == nil {
		c.startWorkload(ch, kind)
	}
}

// ownerStored reports whether the very owner of a pod is stored.
func (c *controllers) ownerStored(o metav1.OwnerReference, namespace string) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.owners[model.PodRef{Namespace: namespace, Name: o.Kind + "/" + o.Name}] == string(o.UID)
}

// owner is the uid of the controller that created the pod, or "".
func owner(p *corev1.Pod) string {
	for _, o := range p.OwnerReferences {
		if o.Controller != nil && *o.Controller {
			return string(o.UID)
		}
	}
	return ""
}

// meta is the metadata of a workload; empty for another object.
func meta(o runtime.Object) metav1.Object {
	switch o := o.(type) {
	case *appsv1.StatefulSet:
		return o
	case *appsv1.Deployment:
		return o
	case *appsv1.DaemonSet:
		return o
	case *batchv1.Job:
		return o
	}
	return &metav1.ObjectMeta{}
}
