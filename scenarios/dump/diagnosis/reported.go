package diagnosis

import (
	"fmt"
	"net/netip"
	"slices"

	"ipamsim/model"
	"ipamsim/scenarios"
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
func (f *Findings) takeReported(v *scenarios.View, all []model.Violation, commands bool) {
	for _, x := range all {
		addr := model.Named(x.Objects, model.RefAddress)
		known := func(y Finding) bool {
			return y.Invariant == x.Invariant && model.Named(y.Objects, model.RefAddress) == addr
		}
		if slices.ContainsFunc(f.All, known) || slices.ContainsFunc(f.Supposed, known) {
			continue
		}
		n := Finding{Violation: x}
		n.Message = x.Say(sentences[x.Code]) + recorded(v, &x)
		if commands {
			n.Check = asks(&x, addr)
		}
		f.All = append(f.All, n)
	}
}

// recorded is which other address the record has for one of two pods that report the same
// address of the default network; "" if it has none. Neither is believed alone.
func recorded(v *scenarios.View, x *model.Violation) (out string) {
	if x.Code != reported.Twice || model.Named(x.Objects, model.RefNetwork) != "" {
		return ""
	}
	for i := range v.Record.Claims {
		cl := &v.Record.Claims[i]
		if addr := model.AddressOf(cl.Addr); cl.Pod.Name != "" && !slices.Contains(x.Objects, addr) && slices.Contains(x.Objects, model.PodOf(cl.Pod)) && sameFamily(cl, x) {
			out += fmt.Sprintf("; the record has %s for %s, which may be newer than what the pod reports", cl.Addr, cl.Pod)
		}
	}
	return out
}

func sameFamily(cl *model.Claim, x *model.Violation) bool {
	a, err := netip.ParseAddr(model.Named(x.Objects, model.RefAddress))
	return err == nil && a.Is4() == cl.Addr.Is4()
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
