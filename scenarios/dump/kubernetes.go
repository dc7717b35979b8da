package dump

import (
	"encoding/json"
	"strings"
)

// pod is what matters of a Pod.
type pod struct {
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

func (p *pod) finished() bool { return p.Phase == "Succeeded" || p.Phase == "Failed" }

// The annotations of a pod.
const (
	networksAnnotation = "k8s.v1.cni.cncf.io/networks"
	statusAnnotation   = "k8s.v1.cni.cncf.io/network-status"
	oldStatus          = "k8s.v1.cni.cncf.io/networks-status" // Multus before 3.5
	calicoAnnotations  = "cni.projectcalico.org/"
	containerByCalico  = calicoAnnotations + "containerID"
	// ContainerAnnotation of a pod in a scenario is the container id of the sandbox
	// that it runs in already.
	ContainerAnnotation = "ipamsim.dev/containerID"
)

func (c *Cluster) addPod(h *head, raw json.RawMessage) error {
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
	p := pod{
		Namespace: c.word(h.Metadata.Namespace), Name: h.Metadata.Name, Node: c.word(o.Spec.NodeName),
		Labels: c.labels(h.Metadata.Labels), Phase: c.word(o.Status.Phase), HostNetwork: o.Spec.HostNetwork,
		Deleting: h.Metadata.DeletionTimestamp != nil,
		Owner:    c.ownerOf(h), Selector: c.labels(o.Spec.NodeSelector), Affine: o.Spec.Affinity.NodeAffinity.Required != nil,
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
		if k == networksAnnotation || k == statusAnnotation || strings.HasPrefix(k, calicoAnnotations) {
			if p.Annotations == nil {
				p.Annotations = map[string]string{}
			}
			p.Annotations[c.word(k)] = v
		}
	}
	for _, ip := range o.Status.PodIPs {
		p.IPs = append(p.IPs, ip.IP)
	}
	if len(p.IPs) == 0 && o.Status.PodIP != "" {
		p.IPs = []string{o.Status.PodIP}
	}
	c.podLists[podList{c.lists, p.Namespace}] = true
	return put(c, c.pods, h.key(), h, p)
}

// node is what matters of a Node, Kubernetes' own and Calico's.
type node struct {
	Labels      map[string]string
	Annotations map[string]string // Calico's: addresses, tunnels, BGP
	Cordoned    bool
	NotReady    bool
	Unheard     bool // its kubelet has been silent for long
	Windows     bool
	Taints      []taint           // those that Kubernetes sets by itself left out
	lengths     map[string]string // addresses with lengths, of an anonymised one
}

const nodeAnnotations = "projectcalico.org/"

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

func (c *Cluster) addNode(h *head, raw json.RawMessage) error {
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
	n := node{Labels: c.labels(h.Metadata.Labels), Cordoned: o.Spec.Unschedulable}
	n.Windows = o.Status.NodeInfo.OperatingSystem == "windows" || n.Labels["kubernetes.io/os"] == "windows" || n.Labels["beta.kubernetes.io/os"] == "windows"
	for _, t := range o.Spec.Taints {
		if !strings.HasPrefix(t.Key, stateTaints) {
			n.Taints = append(n.Taints, t)
		}
	}
	for k, v := range h.Metadata.Annotations {
		if !strings.HasPrefix(k, nodeAnnotations) {
			continue
		}
		if n.Annotations == nil {
			n.Annotations = map[string]string{}
		}
		n.Annotations[c.word(k)] = v
	}
	for _, s := range o.Status.Conditions {
		n.NotReady = n.NotReady || s.Type == "Ready" && s.Status != "True"
		n.Unheard = n.Unheard || s.Type == "Ready" && s.Status == "Unknown"
	}
	if old := c.nodes[h.Metadata.Name]; old != nil && old.group != "" { // what Calico says of it came first
		n.Annotations = over(old.value.Annotations, n.Annotations)
		old.value, old.from, old.version, old.group = n, h.from, version(h.Metadata.ResourceVersion), ""
		return nil
	}
	return put(c, c.nodes, h.Metadata.Name, h, n)
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

// namespace is what an address manager reads of a Namespace.
type namespace struct {
	Labels, Annotations map[string]string
}

func (c *Cluster) addNamespace(h *head, _ json.RawMessage) error {
	n := namespace{Labels: c.labels(h.Metadata.Labels)}
	for k, v := range h.Metadata.Annotations {
		if strings.HasPrefix(k, calicoAnnotations) { // pools of its pods
			n.Annotations = over(n.Annotations, map[string]string{k: v})
		}
	}
	return put(c, c.namespaces, h.Metadata.Name, h, n)
}

// addCronJob keeps the CronJob with which Whereabouts before 0.6.3 ran its
// reconciler, and no other.
func (c *Cluster) addCronJob(h *head, raw json.RawMessage) error {
	type container struct{ Command, Args []string }
	var o struct {
		Spec struct {
			Schedule          string `json:"schedule"`
			ConcurrencyPolicy string `json:"concurrencyPolicy,omitempty"`
			Suspend           bool   `json:"suspend,omitempty"`
			JobTemplate       struct {
				Spec struct {
					Template struct {
						Spec struct{ Containers []container } `json:"spec"`
					} `json:"template"`
				} `json:"spec"`
			} `json:"jobTemplate"`
		} `json:"spec"`
	}
	if err := json.Unmarshal(raw, &o); err != nil {
		return err
	}
	runs := false
	for _, x := range o.Spec.JobTemplate.Spec.Template.Spec.Containers {
		runs = runs || strings.Contains(strings.Join(append(x.Command, x.Args...), " "), reconcilerName)
	}
	if !runs || o.Spec.Suspend {
		c.ignored["CronJob.batch"]++
		return nil
	}
	schedule, err := json.Marshal(o.Spec.Schedule)
	if err != nil {
		return err
	}
	return put(c, c.cronJobs, h.key(), h, schedule)
}

const reconcilerName = "ip-reconciler"
