package diagnosis

import (
	"fmt"
	"net/netip"
	"slices"
	"strings"

	"ipamsim/model"
	"ipamsim/scenarios"
	"ipamsim/scenarios/dump/reported"
)

// sentences describe the conflicts that pods and Services report.
var sentences = map[string]string{
	reported.Twice:   "{pod} report the same address[ in network {network}], {address}[: {by} on each node knows nothing of other nodes]",
	reported.Gateway: "{pod} has {address}, the gateway of network {network}",
	reported.OfNode:  "{pod} has {address}, the address of node {node}",
	reported.Outside: "{pod} on {node} has {address}, which is in the podCIDR of {of}: packets to it go there",
	reported.Service: "{service} have the same load balancer address {address} and port {port}",
}

// takeReported adds the conflicts that pods report, for addresses without a finding in the
// records of managers.
func (f *Findings) takeReported(v *scenarios.View, all []model.Violation, commands bool) {
	claims := map[string][]*model.Claim{} // by pod
	for i := range v.Record.Claims {
		cl := &v.Record.Claims[i]
		claims[cl.Pod.String()] = append(claims[cl.Pod.String()], cl)
	}
	type conflict struct{ invariant, addr string }
	known := map[conflict]bool{}
	for _, y := range slices.Concat(f.All, f.Supposed) {
		known[conflict{y.Invariant, model.Named(y.Objects, model.RefAddress)}] = true
	}
	for _, x := range all {
		addr := model.Named(x.Objects, model.RefAddress)
		this := conflict{x.Invariant, addr}
		if known[this] {
			continue
		}
		known[this] = true
		n := Finding{Violation: x}
		n.Message = say(&x) + recorded(claims, &x)
		if commands {
			n.Check = asks(&x, addr)
		}
		f.All = append(f.All, n)
	}
}

// podsNamed bounds the pods that the sentence of a conflict names.
const podsNamed = 4

// say renders a conflict, with the first few of its pods.
func say(x *model.Violation) string {
	sentence, short, pods := sentences[x.Code], *x, 0
	short.Objects = slices.DeleteFunc(slices.Clone(x.Objects), func(r model.Ref) bool {
		if r.Kind == model.RefPod {
			pods++
		}
		return r.Kind == model.RefPod && pods > podsNamed
	})
	if pods > podsNamed {
		sentence = strings.Replace(sentence, "{pod}", fmt.Sprintf("{pod} and %d more", pods-podsNamed), 1)
	}
	return short.Say(sentence)
}

// recorded renders the other addresses that the record has for the first few pods that report
// one address of the default network; "" if there are none. Either source may be stale.
func recorded(claims map[string][]*model.Claim, x *model.Violation) (out string) {
	if x.Code != reported.Twice || model.Named(x.Objects, model.RefNetwork) != "" {
		return ""
	}
	pods := 0
	for _, o := range x.Objects {
		if o.Kind != model.RefPod || pods >= podsNamed {
			continue
		}
		pods++
		for _, cl := range claims[o.Name] {
			if cl.Pod.Name != "" && !slices.Contains(x.Objects, model.AddressOf(cl.Addr)) && sameFamily(cl, x) {
				out += fmt.Sprintf("; the record has %s for %s, which may be newer than what the pod reports", cl.Addr, cl.Pod)
			}
		}
	}
	return out
}

func sameFamily(cl *model.Claim, x *model.Violation) bool {
	a, err := netip.ParseAddr(model.Named(x.Objects, model.RefAddress))
	return err == nil && a.Is4() == cl.Addr.Is4()
}

// asks returns a command that shows whether the conflict exists now.
func asks(x *model.Violation, addr string) string {
	switch {
	case x.Code == reported.Service:
		return fmt.Sprintf("kubectl get services --all-namespaces | grep -wF '%s' shows the Services that have it now", addr)
	case model.Named(x.Objects, model.RefNetwork) != "":
		return fmt.Sprintf("kubectl get pods --all-namespaces -o yaml | grep -wF '\"%s\"' shows how many pods report it now", addr)
	}
	return fmt.Sprintf("kubectl get pods --all-namespaces -o wide | grep -wF '%s' shows the pods that report it now", addr)
}
