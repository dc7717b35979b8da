package diagnosis

import (
	"fmt"
	"slices"

	"ipamsim/model"
	"ipamsim/scenarios/dump/reported"
)

// sentences are those of what pods report themselves.
var sentences = map[string]string{
	reported.Twice:   "{pod} report the same address[ in network {network}], {address}[: {by} on each node knows nothing of other nodes]",
	reported.Gateway: "{pod} has {address}, the gateway of network {network}",
	reported.OfNode:  "{pod} has {address}, the address of node {node}",
	reported.Outside: "{pod} on {node} has {address}, which is in the podCIDR of {of}: packets to it go there",
	reported.Service: "{service} have the same load balancer's address {address} and port {port}",
}

// takeReported adds conflicts that pods report, of those addresses for which the records of
// managers show none.
func (f *Findings) takeReported(all []model.Violation, commands bool) {
	for _, x := range all {
		addr := model.Named(x.Objects, model.RefAddress)
		known := func(y Finding) bool {
			return y.Invariant == x.Invariant && model.Named(y.Objects, model.RefAddress) == addr
		}
		if slices.ContainsFunc(f.All, known) || slices.ContainsFunc(f.Supposed, known) {
			continue
		}
		n := Finding{Violation: x}
		n.Message = x.Say(sentences[x.Code])
		if commands {
			n.Check = asks(&x, addr)
		}
		f.All = append(f.All, n)
	}
}

// asks is a command line that shows whether a conflict is there now.
func asks(x *model.Violation, addr string) string {
	switch {
	case x.Code == reported.Service:
		return fmt.Sprintf("kubectl get services --all-namespaces | grep -wF '%s' shows the Services that have it now", addr)
	case model.Named(x.Objects, model.RefNetwork) != "":
		return fmt.Sprintf("kubectl get pods --all-namespaces -o yaml | grep -wF '\"%s\"' shows how many pods report it now", addr)
	}
	return fmt.Sprintf("kubectl get pods --all-namespaces -o wide | grep -wF '%s' shows the pods that report it now", addr)
}
