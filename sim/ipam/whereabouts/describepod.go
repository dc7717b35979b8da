package whereabouts

import (
	"encoding/json"
	"fmt"
	"strings"

	nadv1 "github.com/k8snetworkplumbingwg/network-attachment-definition-client/pkg/apis/k8s.cni.cncf.io/v1"

	"ipamsim/sim/kube"
)

// describePod says of a pod what the reconciler judges it by: its phase, and the
// addresses in its network-status.
func describePod(x kube.Exchange) string {
	switch x.Verb {
	case "get":
		if o, ok := answered(x); ok {
			return "reads " + o.pod() + ": " + o.state()
		}
		if x.Status == 404 {
			return "sees that " + x.Namespace + "/" + x.Name + " does not exist"
		}
	case "list":
		o, ok := answered(x)
		if !ok || x.Response == nil {
			return "reads the pods"
		}
		var bare []string
		for i := range o.Items {
			if _, has := o.Items[i].addresses(); !has {
				bare = append(bare, short(o.Items[i].pod())+" "+o.Items[i].phase())
			}
		}
		s := "reads " + count(len(o.Items), "pod")
		if len(bare) > 0 {
			s += fmt.Sprintf(", %d without network-status: %s", len(bare), some(bare))
		}
		return s
	case "event":
		if e := read(x.Response); e.Type == "DELETED" {
			return "learns that " + x.Namespace + "/" + x.Name + " was deleted"
		}
	}
	return ""
}

func (o *stored) pod() string { return o.Metadata.Namespace + "/" + o.Metadata.Name }

func (o *stored) phase() string {
	p := o.Status.Phase
	if p == "" {
		p = "Pending"
	}
	if o.Metadata.Deletion != nil {
		p += " (being deleted)"
	}
	return p
}

func (o *stored) state() string {
	addrs, has := o.addresses()
	if !has {
		return o.phase() + ", no network-status"
	}
	return o.phase() + ", network-status " + strings.Join(addrs, " ")
}

// addresses are those of all networks but the pod network; has is false if Multus
// has written none yet.
func (o *stored) addresses() (addrs []string, has bool) {
	text := o.Metadata.Annotations[nadv1.NetworkStatusAnnot]
	var networks []nadv1.NetworkStatus
	_ = json.Unmarshal([]byte(text), &networks) // upstream takes it for none, too
	for _, n := range networks {
		if !n.Default {
			addrs = append(addrs, n.IPs...)
		}
	}
	return addrs, text != ""
}
