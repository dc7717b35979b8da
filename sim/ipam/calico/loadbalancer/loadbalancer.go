// Package loadbalancer is Calico with its LoadBalancer IPAM as an address manager: the
// unmodified load balancer controller of kube-controllers gives Services of type
// LoadBalancer their addresses.
//
// The record is Calico's, with the Services and their status beside it.
package loadbalancer

import (
	"ipamsim/model/act"
	"ipamsim/sim/ipam"
	"ipamsim/sim/ipam/calico"
	"ipamsim/sim/kube"
)

// New is Calico on its Kubernetes datastore, with one more process.
func New(c *ipam.Manager) *ipam.Manager {
	m := *c
	m.Name, m.Parts, m.Datastores, m.Read = c.Name+"-lb", nil, []string{kubernetes}, reading(c.Read)
	m.Processes = append(c.Processes[:len(c.Processes):len(c.Processes)], ipam.Process{Name: calico.LoadBalancerController, Daemon: true, Several: true, ClientGo: calico.ClientGo})
	m.Open = func(env ipam.Env) (ipam.Instance, error) {
		i, err := calico.OpenWithLoadBalancer(env)
		if err != nil {
			return i, err
		}
		r, err := follow(env.API, i.Observe)
		if err != nil {
			return i, err
		}
		calicos := i.Act
		i.Observe = r.observe
		i.Run[calico.LoadBalancerController] = i.Run[calico.LoadBalancerController].Counted(&r.controllers)
		i.Act = func(detail any) act.Act {
			if x, ok := detail.(kube.Exchange); ok && x.Resource == ipam.ServicesResource {
				return ipam.ActOfBalancer(x)
			}
			return calicos(detail)
		}
		return i, nil
	}
	return &m
}

// kubernetes is Calico's datastore in the Kubernetes API, which also stores Services.
const kubernetes = "kubernetes"
