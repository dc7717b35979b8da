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
	Tolerations           string // as JSON
	Owner                 Owner
	Selector              map[string]string
}

// Owner is temporary.
type Owner struct{ Kind, Name string }

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
		Metadata struct {
			OwnerReferences []struct {
				Kind, Name string
				Controller bool
			} `json:"ownerReferences"`
		} `json:"metadata"`
		Spec struct {
			NodeName     string            `json:"nodeName"`
			HostNetwork  bool              `json:"hostNetwork"`
			NodeSelector map[string]string `json:"nodeSelector"`
			Tolerations  json.RawMessage   `json:"tolerations"`
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
		Deleting:    h.Metadata.DeletionTimestamp != nil,
		Tolerations: c.word(string(o.Spec.Tolerations)), Selector: c.labels(o.Spec.NodeSelector),
	}
	for _, r := range o.Metadata.OwnerReferences {
		if r.Controller {
			p.Owner = Owner{c.word(r.Kind), c.word(r.Name)}
		}
	}
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
	return put(c, c.pods, h.key(), h, p)
}

// node is what matters of a Node, Kubernetes' own and Calico's.
type node struct {
	Labels      map[string]string
	Annotations map[string]string // Calico's: addresses, tunnels, BGP
	Taints      json.RawMessage
	Cordoned    bool
	NotReady    bool
	Unheard     bool              // its kubelet has been silent for long
	lengths     map[string]string // addresses with lengths, of an anonymised one
}

const nodeAnnotations = "projectcalico.org/"

func (c *Cluster) addNode(h *head, raw json.RawMessage) error {
	var o struct {
		Spec struct {
			Unschedulable bool            `json:"unschedulable"`
			Taints        json.RawMessage `json:"taints"`
		} `json:"spec"`
		Status struct {
			Conditions []struct{ Type, Status string } `json:"conditions"`
		} `json:"status"`
	}
	if err := json.Unmarshal(raw, &o); err != nil {
		return err
	}
	n := node{Labels: c.labels(h.Metadata.Labels), Cordoned: o.Spec.Unschedulable, Taints: o.Spec.Taints}
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
