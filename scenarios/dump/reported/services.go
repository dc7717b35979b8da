package reported

import (
	"cmp"
	"encoding/json"
	"fmt"
	"net/netip"

	"ipamsim/model"
	"ipamsim/model/invariant"
	"ipamsim/scenarios/dump/kept"
)

// service is what matters here of a Service of type LoadBalancer.
type service struct {
	addrs []netip.Addr // of its status
	ports []string     // "80/TCP"
}

// AddService keeps a Service of type LoadBalancer that has an address.
func (c *Cluster) AddService(h *kept.Head, raw json.RawMessage) error {
	var o struct {
		Spec struct {
			Type  string
			Ports []struct {
				Port     int32
				Protocol string
			}
		}
		Status struct {
			LoadBalancer struct{ Ingress []struct{ IP string } }
		}
	}
	if err := json.Unmarshal(raw, &o); err != nil {
		return err
	}
	var s service
	for _, i := range o.Status.LoadBalancer.Ingress {
		s.addrs = append(s.addrs, kept.AddrsIn([]string{i.IP})...)
	}
	for _, p := range o.Spec.Ports {
		s.ports = append(s.ports, fmt.Sprintf("%d/%s", p.Port, cmp.Or(p.Protocol, "TCP")))
	}
	if o.Spec.Type == "LoadBalancer" && len(s.addrs) > 0 {
		c.services[key(h)] = s
	}
	return nil
}

// balanced are Services that have one address and one port of it. With different ports they
// may share the address: whether they agree on that is for the manager of the addresses.
func (c *Cluster) balanced() (out []model.Violation) {
	type end struct {
		addr netip.Addr
		port string
	}
	type pair struct {
		addr          netip.Addr
		first, second string
	}
	have, found := map[end]string{}, map[pair]bool{}
	for _, name := range kept.Keys(c.services) {
		for _, a := range c.services[name].addrs {
			for _, p := range c.services[name].ports {
				first := have[end{a, p}]
				if first == "" || first == name {
					have[end{a, p}] = name
					continue
				}
				v := model.Violation{
					Invariant: invariant.DuplicateLoadBalancerIP.Name, Severity: invariant.DuplicateLoadBalancerIP.Severity, Code: Service,
					Objects: []model.Ref{model.AddressOf(a), model.ServiceOf(first), model.ServiceOf(name)},
					Facts:   []model.Fact{model.NewFact("port", p)},
				}
				if this := (pair{a, first, name}); !found[this] {
					found[this], out = true, append(out, v)
				}
			}
		}
	}
	return out
}
