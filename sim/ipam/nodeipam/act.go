package nodeipam

import (
	"encoding/json"
	"net/netip"

	"ipamsim/model"
	"ipamsim/model/act"
	"ipamsim/sim/disk"
	"ipamsim/sim/ipam"
	"ipamsim/sim/kube"
)

// stored is what matters of a Node, or of a patch of one.
type stored struct {
	Metadata struct {
		Name            string `json:"name"`
		ResourceVersion string `json:"resourceVersion"`
	} `json:"metadata"`
	Spec struct {
		PodCIDRs []string `json:"podCIDRs"`
	} `json:"spec"`
}

const nodesResource = "nodes"

// act says of a message about nodes which podCIDRs it is about, and of an access to a
// file what the disk says.
func (i *instance) act(detail any) act.Act {
	switch x := detail.(type) {
	case disk.Access:
		return x.Act()
	case kube.Exchange:
		if x.Resource == nodesResource {
			return actOfNode(x)
		}
	}
	return act.Act{}
}

func actOfNode(x kube.Exchange) act.Act {
	a := x.Act()
	a.Thing.Kind, a.Thing.Name = act.Nodes, x.Name
	if x.Bare {
		return a
	}
	switch a.Verb {
	case act.Patch, act.Create, act.Update:
		var n stored
		if json.Unmarshal(x.Request, &n) == nil && len(n.Spec.PodCIDRs) > 0 {
			a.Bare, a.Gives = false, n.ranges(x.Name)
		}
		if a.Verb == act.Patch && !a.Bare {
			a.Verb = act.Update // its content is decoded
		}
	case act.Read:
		a.Bare = !readNode(x.Response, &a.Thing)
	case act.Hear:
		if object, gone, ok := ipam.Heard(x.Response); ok {
			a.Gone, a.Bare = gone, !readNode(object, &a.Thing)
		}
	}
	return a
}

// readNode reads a node with its podCIDRs; ok is false if it cannot be read.
func readNode(body []byte, t *act.Thing) (ok bool) {
	var n stored
	if json.Unmarshal(body, &n) != nil || n.Metadata.Name == "" {
		return false
	}
	t.Name, t.Revision, t.Parts = n.Metadata.Name, n.Metadata.ResourceVersion, n.ranges(n.Metadata.Name)
	return true
}

// ranges are a node's podCIDRs.
func (n *stored) ranges(node string) (out []act.Thing) {
	for _, text := range n.Spec.PodCIDRs {
		if p, err := netip.ParsePrefix(text); err == nil {
			out = append(out, act.Thing{Kind: act.Block, Name: p.String(), Owner: model.Ref{Kind: model.RefNode, Name: node}})
		}
	}
	return out
}
