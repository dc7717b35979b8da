package dump

import (
	"encoding/json"
	"slices"
	"strings"
)

// Pod is what matters of a Pod.
type Pod struct {
	Namespace, Name, Node string
	Labels                map[string]string
	Annotations           map[string]string // those that CNI plugins read and write
	Phase                 string
	IPs                   []string
	HostNetwork, Deleting bool
	Owner                 Owner
	Selector              map[string]string // nodeSelector
	Affine                bool              // an affinity to nodes is required of it
	Tolerations           []toleration      // those that every pod gets left out
}

// toleration is an entry of spec.tolerations.
type toleration struct {
	Key      string `json:"key,omitempty"`
	Operator string `json:"operator,omitempty"`
	Value    string `json:"value,omitempty"`
	Effect   string `json:"effect,omitempty"`
	Seconds  *int64 `json:"tolerationSeconds,omitempty"`
}

// everyones reports whether the API server gives a toleration to every pod.
//
// Source: k8s.io/kubernetes/plugin/pkg/admission/defaulttolerationseconds.
func (t *toleration) everyones() bool {
	return t.Effect == "NoExecute" && t.Seconds != nil && *t.Seconds == 300 && t.Operator == "Exists" &&
		(t.Key == "node.kubernetes.io/not-ready" || t.Key == "node.kubernetes.io/unreachable")
}

// container is what is read of a pod's: who runs in it.
type container struct {
	Image string `json:"image"`
}

// Finished reports whether the pod has ended and holds nothing any more.
func (p *Pod) Finished() bool { return p.Phase == "Succeeded" || p.Phase == "Failed" }

// The annotations of a pod.
const (
	networksAnnotation = "k8s.v1.cni.cncf.io/networks"
	statusAnnotation   = "k8s.v1.cni.cncf.io/network-status"
	oldStatus          = "k8s.v1.cni.cncf.io/networks-status" // Multus before 3.5
	// ContainerAnnotation of a pod in a scenario is the container id of the sandbox
	// that it runs in already.
	ContainerAnnotation = "ipamsim.dev/containerID"
)

func (c *Cluster) addPod(h *Head, raw json.RawMessage) error {
	var o struct {
		Spec struct {
			NodeName     string            `json:"nodeName"`
			HostNetwork  bool              `json:"hostNetwork"`
			NodeSelector map[string]string `json:"nodeSelector"`
			Tolerations  []toleration      `json:"tolerations"`
			Containers   []container       `json:"containers"`
			Affinity     struct {
				NodeAffinity struct {
					Required *struct{} `json:"requiredDuringSchedulingIgnoredDuringExecution"`
				} `json:"nodeAffinity"`
			} `json:"affinity"`
		} `json:"spec"`
		Status struct {
			Phase  string                `json:"phase"`
			PodIP  string                `json:"podIP"`
			PodIPs []struct{ IP string } `json:"podIPs"`
		} `json:"status"`
	}
	if err := json.Unmarshal(raw, &o); err != nil {
		return err
	}
	if h.Metadata.Namespace == "" {
		h.Metadata.Namespace = "default"
	}
	p := Pod{
		Namespace: c.Word(h.Metadata.Namespace), Name: h.Metadata.Name, Node: c.Word(o.Spec.NodeName),
		Labels: c.Labels(h.Metadata.Labels), Phase: c.Word(o.Status.Phase), HostNetwork: o.Spec.HostNetwork,
		Deleting: h.Metadata.DeletionTimestamp != nil,
		Owner:    c.ownerOf(h), Selector: c.Labels(o.Spec.NodeSelector), Affine: o.Spec.Affinity.NodeAffinity.Required != nil,
	}
	for _, t := range o.Spec.Tolerations {
		if !t.everyones() {
			p.Tolerations = append(p.Tolerations, t)
		}
	}
	c.sawImages(o.Spec.Containers)
	for k, v := range h.Metadata.Annotations {
		if k == oldStatus {
			if h.Metadata.Annotations[statusAnnotation] != "" {
				continue
			}
			k = statusAnnotation
		}
		if k == networksAnnotation || k == statusAnnotation || c.ofPods(k) {
			if p.Annotations == nil {
				p.Annotations = map[string]string{}
			}
			p.Annotations[c.Word(k)] = v
		}
	}
	for _, ip := range o.Status.PodIPs {
		p.IPs = append(p.IPs, ip.IP)
	}
	if len(p.IPs) == 0 && o.Status.PodIP != "" {
		p.IPs = []string{o.Status.PodIP}
	}
	c.podLists[podList{c.lists, p.Namespace}] = true
	return Put(c, c.Pods, h.Key(), h, p)
}

// Node is what matters of a Node, Kubernetes' own and what a manager says of it.
type Node struct {
	Labels      map[string]string
	Annotations map[string]string // the managers': addresses, tunnels, …
	Cordoned    bool
	NotReady    bool
	Unheard     bool // its kubelet has been silent for long
	Windows     bool
	Taints      []taint           // those that Kubernetes sets by itself left out
	renumbered  map[string]string // addresses with lengths, of an anonymised one
}

// taint is an entry of spec.taints.
type taint struct {
	Key    string `json:"key"`
	Value  string `json:"value,omitempty"`
	Effect string `json:"effect"`
}

// stateTaints begins the keys of taints that follow from a node's state.
//
// Source: k8s.io/api/core/v1, well_known_taints.go.
const stateTaints = "node.kubernetes.io/"

func (c *Cluster) addNode(h *Head, raw json.RawMessage) error {
	var o struct {
		Spec struct {
			Unschedulable bool    `json:"unschedulable"`
			Taints        []taint `json:"taints"`
		} `json:"spec"`
		Status struct {
			Conditions []struct{ Type, Status string } `json:"conditions"`
			NodeInfo   struct {
				OperatingSystem string `json:"operatingSystem"`
			} `json:"nodeInfo"`
		} `json:"status"`
	}
	if err := json.Unmarshal(raw, &o); err != nil {
		return err
	}
	n := Node{Labels: c.Labels(h.Metadata.Labels), Cordoned: o.Spec.Unschedulable}
	n.Windows = o.Status.NodeInfo.OperatingSystem == "windows" || n.Labels["kubernetes.io/os"] == "windows" || n.Labels["beta.kubernetes.io/os"] == "windows"
	for _, t := range o.Spec.Taints {
		if !strings.HasPrefix(t.Key, stateTaints) {
			n.Taints = append(n.Taints, t)
		}
	}
	for k, v := range h.Metadata.Annotations {
		if !c.ofNodes(k) {
			continue
		}
		if n.Annotations == nil {
			n.Annotations = map[string]string{}
		}
		n.Annotations[c.Word(k)] = v
	}
	for _, s := range o.Status.Conditions {
		n.NotReady = n.NotReady || s.Type == "Ready" && s.Status != "True"
		n.Unheard = n.Unheard || s.Type == "Ready" && s.Status == "Unknown"
	}
	if old := c.Nodes[h.Metadata.Name]; old != nil && old.group != "" { // what a manager says of it came first
		n.Annotations = over(old.Value.Annotations, n.Annotations)
		old.Value, old.From, old.version, old.group = n, h.From, version(h.Metadata.ResourceVersion), ""
		return nil
	}
	return Put(c, c.Nodes, h.Metadata.Name, h, n)
}

// Note adds what a manager's own tool says of a node, as if they were annotations of its
// own; what the node itself says counts.
func (c *Cluster) Note(h *Head, annotations map[string]string) error {
	if old := c.Nodes[h.Metadata.Name]; old != nil {
		old.Value.Annotations = over(annotations, old.Value.Annotations)
		return nil
	}
	return Put(c, c.Nodes, h.Metadata.Name, h, Node{Labels: c.Labels(h.Metadata.Labels), Annotations: annotations})
}

// ofPods reports whether a manager's annotation of pods is kept, ofNodes one of nodes.
func (c *Cluster) ofPods(annotation string) bool {
	return slices.ContainsFunc(c.readings, func(r *reading) bool { return begins(annotation, r.importer.PodNotes) })
}

func (c *Cluster) ofNodes(annotation string) bool {
	return slices.ContainsFunc(c.readings, func(r *reading) bool { return begins(annotation, r.importer.NodeNotes) })
}

func begins(s, prefix string) bool { return prefix != "" && strings.HasPrefix(s, prefix) }

// identifies reports whether an annotation of pods is the id of the container, in the words
// of some manager.
func (c *Cluster) identifies(annotation string) bool {
	return slices.ContainsFunc(c.readings, func(r *reading) bool { return annotation == r.manager.Annotations.Container })
}

// written reports whether a manager wrote an annotation of the pod that has it.
func (c *Cluster) written(annotation string) bool {
	return slices.ContainsFunc(c.readings, func(r *reading) bool { return r.importer.Written != nil && r.importer.Written(annotation) })
}

// keptOfNode reports whether an annotation of a node gets into the scenario.
func (c *Cluster) keptOfNode(annotation string) bool {
	return slices.ContainsFunc(c.readings, func(r *reading) bool { return r.importer.KeptOfNode != nil && r.importer.KeptOfNode(annotation) })
}

// over is b with what a has and b lacks.
func over(a, b map[string]string) map[string]string {
	if len(a)+len(b) == 0 {
		return nil
	}
	out := map[string]string{}
	for _, m := range []map[string]string{a, b} {
		for k, v := range m {
			out[k] = v
		}
	}
	return out
}

// Namespace is what an address manager reads of a Namespace.
type Namespace struct {
	Labels, Annotations map[string]string
}

func (c *Cluster) addNamespace(h *Head, _ json.RawMessage) error {
	n := Namespace{Labels: c.Labels(h.Metadata.Labels)}
	for k, v := range h.Metadata.Annotations {
		if c.ofPods(k) { // pools of its pods
			n.Annotations = over(n.Annotations, map[string]string{k: v})
		}
	}
	return Put(c, c.Namespaces, h.Metadata.Name, h, n)
}
