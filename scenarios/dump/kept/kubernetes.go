package kept

import (
	"encoding/json"
	"net/netip"
	"slices"
	"strings"
	"time"
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
	Tolerations           []Toleration      // those that every pod gets left out
	Started               time.Time         // when its kubelet accepted it; zero: not known
}

// Toleration is an entry of spec.tolerations.
type Toleration struct {
	Key      string `json:"key,omitempty"`
	Operator string `json:"operator,omitempty"`
	Value    string `json:"value,omitempty"`
	Effect   string `json:"effect,omitempty"`
	Seconds  *int64 `json:"tolerationSeconds,omitempty"`
}

// everyones reports whether the API server gives a toleration to every pod.
//
// Source: k8s.io/kubernetes/plugin/pkg/admission/defaulttolerationseconds.
func (t *Toleration) everyones() bool {
	return t.Effect == "NoExecute" && t.Seconds != nil && *t.Seconds == 300 && t.Operator == "Exists" &&
		(t.Key == "node.kubernetes.io/not-ready" || t.Key == "node.kubernetes.io/unreachable")
}

// Ref is namespace/name.
func (p *Pod) Ref() string { return p.Namespace + "/" + p.Name }

// addTime is how long the ADDs of one sandbox may take, with a margin for lists that were not read
// at one instant.
//
// Source: pkg/kubelet/apis/config/v1beta1, RuntimeRequestTimeout 2m; the kubelet allows
// twice for a sandbox (Kubernetes v1.37.2).
const addTime = 10 * time.Minute

// Waits reports whether the pod has had no address for so long that no ADD of its first
// sandbox can be under way, by the newest heartbeat of its node: it waits, whatever a record
// claims for it. Without that, or without the node, it is not known.
func (p *Pod) Waits(n *Node) bool {
	return n != nil && p.Phase == "Pending" && len(p.IPs) == 0 && p.Annotations[StatusAnnotation] == "" && !p.Started.IsZero() && n.Heard.Sub(p.Started) > addTime
}

// timeOf is a time of an object, zero if it is none.
func timeOf(text string) time.Time {
	t, err := time.Parse(time.RFC3339, text)
	if err != nil {
		return time.Time{}
	}
	return t
}

// Finished reports whether the pod has ended.
func (p *Pod) Finished() bool { return p.Phase == "Succeeded" || p.Phase == "Failed" }

// The annotations of a pod.
const (
	NetworksAnnotation = "k8s.v1.cni.cncf.io/networks"
	StatusAnnotation   = "k8s.v1.cni.cncf.io/network-status"
	oldStatus          = "k8s.v1.cni.cncf.io/networks-status" // Multus before 3.5
	// ContainerAnnotation of a pod in a scenario is the container id of the sandbox
	// that it runs in already.
	ContainerAnnotation = "ipamsim.dev/containerID"
	// FilesAnnotation of a node in a scenario are files on its disk at the start (ipam.FilesAnnotation).
	FilesAnnotation = "ipamsim.dev/files"
)

// PodOf reads a Pod. Of annotations those are kept that CNI plugins read and write, and
// those of address managers.
func (c *Store) PodOf(h *Head, raw json.RawMessage, managers func(annotation string) bool) (p Pod, images []string, err error) {
	var o struct {
		Spec struct {
			NodeName     string            `json:"nodeName"`
			HostNetwork  bool              `json:"hostNetwork"`
			NodeSelector map[string]string `json:"nodeSelector"`
			Tolerations  []Toleration      `json:"tolerations"`
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
			Start  string                `json:"startTime"`
		} `json:"status"`
	}
	if err := json.Unmarshal(raw, &o); err != nil {
		return p, nil, err
	}
	if h.Metadata.Namespace == "" {
		h.Metadata.Namespace = "default"
	}
	p = Pod{
		Namespace: c.Word(h.Metadata.Namespace), Name: h.Metadata.Name, Node: c.Word(o.Spec.NodeName),
		Labels: c.Labels(h.Metadata.Labels), Phase: c.Word(o.Status.Phase), HostNetwork: o.Spec.HostNetwork,
		Deleting: h.Metadata.DeletionTimestamp != nil,
		Owner:    c.ownerOf(h), Selector: c.Labels(o.Spec.NodeSelector), Affine: o.Spec.Affinity.NodeAffinity.Required != nil,
		Started: timeOf(o.Status.Start),
	}
	for _, t := range o.Spec.Tolerations {
		if !t.everyones() {
			p.Tolerations = append(p.Tolerations, t)
		}
	}
	for k, v := range h.Metadata.Annotations {
		if k == oldStatus {
			if h.Metadata.Annotations[StatusAnnotation] != "" {
				continue
			}
			k = StatusAnnotation
		}
		if k == NetworksAnnotation || k == StatusAnnotation || managers(k) {
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
	return p, imagesOf(o.Spec.Containers), nil
}

// container has the fields of a pod's container that are read.
type container struct {
	Image string `json:"image"`
}

func imagesOf(all []container) (out []string) {
	for _, c := range all {
		out = append(out, c.Image)
	}
	return out
}

// Node has the relevant fields of a Node, and a manager's data about it.
type Node struct {
	Labels      map[string]string
	Annotations map[string]string // the managers': addresses, tunnels, …
	Cordoned    bool
	NotReady    bool
	Unheard     bool // its kubelet has been silent for long
	Windows     bool
	Taints      []Taint           // without those that Kubernetes sets itself
	PodCIDRs    []netip.Prefix    // that can be read
	Addresses   []netip.Addr      // internal ones
	Heard       time.Time         // its kubelet's newest heartbeat; zero: not known
	Renumbered  map[string]string // addresses with lengths, of an anonymised one
}

// Taint is an entry of spec.taints.
type Taint struct {
	Key    string `json:"key"`
	Value  string `json:"value,omitempty"`
	Effect string `json:"effect"`
}

// stateTaints begins the keys of taints that follow from a node's state.
//
// Source: k8s.io/api/core/v1, well_known_taints.go.
const stateTaints = "node.kubernetes.io/"

// NodeOf reads a Node, with the annotations of address managers.
func (c *Store) NodeOf(h *Head, raw json.RawMessage, managers func(annotation string) bool) (n Node, err error) {
	var o struct {
		Spec struct {
			Unschedulable bool     `json:"unschedulable"`
			Taints        []Taint  `json:"taints"`
			PodCIDR       string   `json:"podCIDR"`
			PodCIDRs      []string `json:"podCIDRs"`
		} `json:"spec"`
		Status struct {
			Addresses  []struct{ Type, Address string } `json:"addresses"`
			Conditions []struct {
				Type, Status string
				Heartbeat    string `json:"lastHeartbeatTime"`
			} `json:"conditions"`
			NodeInfo struct {
				OperatingSystem string `json:"operatingSystem"`
			} `json:"nodeInfo"`
		} `json:"status"`
	}
	if err := json.Unmarshal(raw, &o); err != nil {
		return n, err
	}
	n = Node{Labels: c.Labels(h.Metadata.Labels), Cordoned: o.Spec.Unschedulable}
	n.Windows = o.Status.NodeInfo.OperatingSystem == "windows" || n.Labels["kubernetes.io/os"] == "windows" || n.Labels["beta.kubernetes.io/os"] == "windows"
	for _, t := range o.Spec.Taints {
		if !strings.HasPrefix(t.Key, stateTaints) {
			n.Taints = append(n.Taints, t)
		}
	}
	for k, v := range h.Metadata.Annotations {
		if !managers(k) {
			continue
		}
		if n.Annotations == nil {
			n.Annotations = map[string]string{}
		}
		n.Annotations[c.Word(k)] = v
	}
	for _, s := range append(o.Spec.PodCIDRs, o.Spec.PodCIDR) {
		if p, err := netip.ParsePrefix(s); err == nil && !slices.Contains(n.PodCIDRs, p.Masked()) {
			n.PodCIDRs = append(n.PodCIDRs, p.Masked())
		}
	}
	for _, a := range o.Status.Addresses {
		if a.Type == "InternalIP" {
			n.Addresses = append(n.Addresses, AddrsIn([]string{a.Address})...)
		}
	}
	for _, s := range o.Status.Conditions {
		if t := timeOf(s.Heartbeat); t.After(n.Heard) {
			n.Heard = t
		}
		n.NotReady = n.NotReady || s.Type == "Ready" && s.Status != "True"
		n.Unheard = n.Unheard || s.Type == "Ready" && s.Status == "Unknown"
	}
	return n, nil
}

// Namespace is what an address manager reads of a Namespace.
type Namespace struct {
	Labels, Annotations map[string]string
}

// NamespaceOf is what is kept of a Namespace, with the annotations of address managers.
func (c *Store) NamespaceOf(h *Head, managers func(annotation string) bool) Namespace {
	n := Namespace{Labels: c.Labels(h.Metadata.Labels)}
	for k, v := range h.Metadata.Annotations {
		if managers(k) { // pools of its pods
			n.Annotations = Over(n.Annotations, map[string]string{k: v})
		}
	}
	return n
}

// Over is b with what a has and b lacks.
func Over(a, b map[string]string) map[string]string {
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
