package kubeapi

import (
	"cmp"
	"maps"
	"slices"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"

	"ipamsim/model"
	"ipamsim/sim/kube"
)

// Cache holds the API server's pods and nodes as of the last commit. Unlike an Informer, it
// does not lag behind.
type Cache struct {
	now func() time.Duration

	mu    sync.Mutex
	pods  map[model.PodRef]*corev1.Pod
	nodes map[string]storedNode
}

// storedNode is a node that is stored, or was.
type storedNode struct {
	object *corev1.Node // nil when it is not stored
	gone   time.Duration
}

// NewCache makes one of a cluster in which nothing is stored yet.
func NewCache(now func() time.Duration) *Cache {
	return &Cache{now: now, pods: map[model.PodRef]*corev1.Pod{}, nodes: map[string]storedNode{}}
}

// Changed takes note of a committed change.
func (c *Cache) Changed(ch kube.Change) {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch key := (model.PodRef{Namespace: ch.Namespace, Name: ch.Name}); ch.Resource {
	case Pods.Plural:
		if p, ok := ch.Object.(*corev1.Pod); ok {
			c.pods[key] = p
		} else {
			delete(c.pods, key)
		}
	case Nodes.Plural:
		n, _ := ch.Object.(*corev1.Node)
		if _, known := c.nodes[ch.Name]; n != nil || known {
			c.nodes[ch.Name] = storedNode{n, c.now()}
		}
	}
}

// Pod is a stored pod, nil if it is not stored. It must not be changed, and so are all
// others that a cache returns.
func (c *Cache) Pod(key model.PodRef) *corev1.Pod {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.pods[key]
}

// Pods returns the stored pods for which keep returns true, by namespace and name.
func (c *Cache) Pods(keep func(*corev1.Pod) bool) []*corev1.Pod {
	var out []*corev1.Pod
	c.EachPod(func(p *corev1.Pod) {
		if keep(p) {
			out = append(out, p)
		}
	})
	slices.SortFunc(out, func(a, b *corev1.Pod) int {
		return cmp.Or(cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.Name, b.Name))
	})
	return out
}

// PodsOn are the pods that are bound to a node.
func (c *Cache) PodsOn(node string) []*corev1.Pod {
	return c.Pods(func(p *corev1.Pod) bool { return p.Spec.NodeName == node })
}

// EachPod calls f for the stored pods, in no order. It must not call the cache.
func (c *Cache) EachPod(f func(*corev1.Pod)) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, p := range c.pods {
		f(p)
	}
}

// Nodes are the names of all nodes that are stored or were, sorted.
func (c *Cache) Nodes() []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.Sorted(maps.Keys(c.nodes))
}

// Node is a stored node; nil if it is not stored, and since when.
func (c *Cache) Node(name string) (n *corev1.Node, gone time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.nodes[name].object, c.nodes[name].gone
}

// Ref is a pod's key.
func Ref(p *corev1.Pod) model.PodRef { return model.PodRef{Namespace: p.Namespace, Name: p.Name} }

// Finished reports whether a pod's containers have ended for good.
func Finished(p *corev1.Pod) bool {
	return p.Status.Phase == corev1.PodSucceeded || p.Status.Phase == corev1.PodFailed
}
