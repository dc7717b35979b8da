// Package services is what plans know of Services' cluster IPs and node ports: how kubeadm's
// configuration says their ranges, and what Services a plan makes.
package services

import (
	"encoding/json"
	"fmt"
	"net/netip"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	utilnet "k8s.io/apimachinery/pkg/util/net"

	"ipamsim/model"
	"ipamsim/model/capacity"
	"ipamsim/model/capacity/services"
	"ipamsim/model/metric"
	"ipamsim/scenarios"
	"ipamsim/scenarios/plan"
	"ipamsim/scenarios/plan/kubeadm"
	"ipamsim/scenarios/plan/values"
	"ipamsim/sim/cluster"
	upstream "ipamsim/sim/ipam/services"
)

// servicesMax bounds a plan: a cluster has 10,000 Services at most, by upstream's
// thresholds.
const servicesMax = 100_000

const (
	kind, resource = "Service", "services"
	// realMost is how much of the real code anybody waits for.
	realMost = 10 * values.Day
)

// Plan is what plans know of Services. It has no reconciler: what a Service had is free when
// it is deleted.
var Plan = plan.Manager{
	Configure: configure,
	Settings: []plan.Setting{
		{Name: "serviceSubnet", Means: "range of cluster IPs, or one of each family, the primary one first", Type: values.CIDRs(1)},
		{Name: "nodePortRange", Means: "range of node ports; default: 30000-32767", Type: portRange()},
		given("services", "total number of Services", plan.Into(values.Whole(1, servicesMax), func(d *plan.Draft, n int) { d.Load.Pods = n })),
		given("growServices", "how many more exist at the horizon, added at equal intervals; negative: fewer",
			plan.Into(values.Whole(-servicesMax, servicesMax), func(d *plan.Draft, n int) { d.Load.GrowPods = n })),
		given("servicePorts", "ports of each Service; default: 1", values.Whole(1, 100)),
		given("nodePortShare", "share of Services of type NodePort; the others are of type ClusterIP", values.Number(0, 1)),
		given("loadBalancerShare", "share of Services of type LoadBalancer, which also use node ports", values.Number(0, 1)),
		given("localShare", "share of these with externalTrafficPolicy Local, which use one more node port each", values.Number(0, 1)),
		given("dualStackShare", "share of dual-stack Services; the others have an address of the primary family", values.Number(0, 1)),
	},
	Manifests: manifests,
	Blame:     []string{"serviceSubnet", "nodePortRange"},
	Real: plan.RealCode{
		Least: 2 * time.Second, TooMuch: tooMuch,
		Latency: func(*capacity.Cluster, time.Duration) time.Duration { return time.Millisecond },
		Daemons: func(*capacity.Cluster) []string { return []string{"kube-apiserver"} },
		Objects: claimed,
		Wanting: func(err string) bool { return strings.Contains(err, "range is full") },
	},
	Tenants: &plan.Tenants{
		Kind: kind, Resource: resource, Number: "services",
		Shared:  []string{"lifetime", "arrivals", "arrivalsByHour", "arrivalsByWeekday", "arrivalsBatch", "arrivalsLifetime", "begins"},
		Spec:    spec,
		Measure: measure,
	},
}

// given returns a setting that is not a choice: it is the demand of users.
func given(name, means string, t values.Type) plan.Setting {
	return plan.Setting{Name: name, Means: means, Type: t, Given: true}
}

// configure reads the ranges out of the networks, which are the API servers' own, and what
// Services there are at the beginning.
func configure(d *plan.Draft, s *scenarios.Scenario, c *capacity.Cluster) error {
	ports, err := upstream.NodePorts(s.Objects)
	if err != nil {
		return err
	}
	conf := &services.Config{First: ports.Base, Last: ports.Base + ports.Size - 1, Ports: 1}
	if n, ok := plan.Value[int](d, "servicePorts"); ok {
		conf.Ports = n
	}
	conf.NodePort, _ = plan.Value[float64](d, "nodePortShare")
	conf.LoadBalancer, _ = plan.Value[float64](d, "loadBalancerShare")
	conf.Local, _ = plan.Value[float64](d, "localShare")
	conf.Dual, _ = plan.Value[float64](d, "dualStackShare")
	n := c.Networks[0]
	n.Ranges = slices.Clone(n.Ranges)
	for i := range n.Ranges {
		r := &n.Ranges[i]
		r.Start, r.End = services.Ends(r.Prefix)
		conf.Ranges = append(conf.Ranges, r.Prefix)
	}
	c.Networks, c.Manager = []model.Network{n}, conf
	switch {
	case conf.NodePort+conf.LoadBalancer > 1:
		return &plan.Mistake{Setting: "loadBalancerShare", Problem: "the sum with nodePortShare is above 1"}
	case conf.Local > 0 && conf.LoadBalancer == 0:
		return &plan.Mistake{Setting: "localShare", Problem: "has no effect without loadBalancerShare"}
	case conf.Dual > 0 && len(conf.Ranges) < 2:
		return &plan.Mistake{Setting: "dualStackShare", Problem: "the cluster has one range of cluster IPs: want one of each family"}
	}
	return taken(conf, s.Objects)
}

// taken is what the Services of the manifests have.
func taken(conf *services.Config, all []cluster.Object) error {
	for _, o := range all {
		if o.Kind != kind {
			continue
		}
		var s corev1.Service
		if err := json.Unmarshal(o.Body, &s); err != nil {
			return err
		}
		for _, text := range s.Spec.ClusterIPs {
			if a, err := netip.ParseAddr(text); err == nil {
				conf.Taken = append(conf.Taken, a)
			}
		}
		for _, p := range s.Spec.Ports {
			if n := int(p.NodePort); n != 0 && !slices.Contains(conf.TakenPorts, n) {
				conf.TakenPorts = append(conf.TakenPorts, n)
			}
		}
		if n := int(s.Spec.HealthCheckNodePort); n != 0 {
			conf.TakenPorts = append(conf.TakenPorts, n)
		}
	}
	return nil
}

// claimed are the manifests with an IPAddress for each address of the beginning: the repair
// loop would make them.
func claimed(all []cluster.Object, _ *capacity.Cluster) ([]cluster.Object, error) {
	out := slices.Clone(all)
	for _, o := range all {
		conf := services.Config{}
		if err := taken(&conf, []cluster.Object{o}); err != nil {
			return nil, err
		}
		for _, a := range conf.Taken {
			if slices.ContainsFunc(all, func(o cluster.Object) bool { return o.Kind == "IPAddress" && o.Name == a.String() }) {
				continue
			}
			family := corev1.IPv4Protocol
			if a.Is6() {
				family = corev1.IPv6Protocol
			}
			body, err := json.Marshal(networkingv1.IPAddress{
				TypeMeta: metav1.TypeMeta{APIVersion: networkingv1.SchemeGroupVersion.String(), Kind: "IPAddress"},
				ObjectMeta: metav1.ObjectMeta{Name: a.String(), Labels: map[string]string{
					networkingv1.LabelIPAddressFamily: string(family), networkingv1.LabelManagedBy: "ipallocator.k8s.io",
				}},
				Spec: networkingv1.IPAddressSpec{ParentRef: &networkingv1.ParentReference{Resource: resource, Namespace: o.Namespace, Name: o.Name}},
			})
			if err != nil {
				return nil, err
			}
			out = append(out, cluster.Object{Kind: "IPAddress", Name: a.String(), Body: body})
		}
	}
	return out, nil
}

// spec is what a Service of the plan asks for.
func spec(c *capacity.Cluster, seed uint64, name string) plan.Body {
	conf := c.Manager.(*services.Config)
	k := conf.Kind(seed, name)
	var ports []plan.Body
	for i := range conf.Ports {
		ports = append(ports, plan.Body{"name": fmt.Sprint("p", i), "port": 8000 + i})
	}
	out := plan.Body{"ports": ports, "selector": plan.Body{"app": name}, "type": corev1.ServiceTypeClusterIP}
	switch {
	case k.NodePort:
		out["type"] = corev1.ServiceTypeNodePort
	case k.LoadBalancer:
		out["type"] = corev1.ServiceTypeLoadBalancer
	}
	if k.Local {
		out["externalTrafficPolicy"] = corev1.ServiceExternalTrafficPolicyLocal
	}
	if k.Dual {
		out["ipFamilyPolicy"] = corev1.IPFamilyPolicyRequireDualStack
	}
	return out
}

// measure counts the plan's Services, and what is claimed for none.
func measure(x *capacity.Sample, v metric.View, c *capacity.Cluster) {
	conf, all := c.Manager.(*services.Config), v.Record.Services
	x.Leaked, x.Size = 0, 0
	for _, r := range c.Networks[0].Ranges {
		x.Size += r.FreeBetween(r.Start, r.End, nil)
	}
	for _, s := range all.All {
		if !slices.ContainsFunc(s.Addrs, func(a netip.Addr) bool { return slices.Contains(conf.Taken, a) }) {
			x.Pods++
		}
	}
	for _, claim := range all.Claims {
		if s := all.Service(claim.Service); s == nil || !slices.Contains(s.Addrs, claim.Addr) {
			x.Leaked++
		}
		if conf.InBand(claim.Addr) {
			x.InBand++
		}
	}
	x.NodePorts = len(all.Ports)
}

// tooMuch: API servers look at what is theirs whether anything happens or not, so that a day
// takes some seconds.
func tooMuch(c *capacity.Cluster) string {
	if c.Horizon > realMost {
		return fmt.Sprintf("more than %s of API servers take too long", values.SpanText(realMost))
	}
	return ""
}

// manifests change the ClusterConfiguration.
func manifests(d *plan.Draft, all []cluster.Object) ([]cluster.Object, error) {
	return kubeadm.Change(all, func(conf plan.Body) {
		if ranges, ok := plan.Value[[]netip.Prefix](d, "serviceSubnet"); ok {
			var text []string
			for _, r := range ranges {
				text = append(text, r.String())
			}
			plan.Under(conf, "networking")["serviceSubnet"] = strings.Join(text, ",")
		}
		if r, ok := plan.Value[string](d, "nodePortRange"); ok {
			m := plan.Under(conf, "apiServer")
			m["extraArgs"] = kubeadm.With(m["extraArgs"], "service-node-port-range", r)
		}
	})
}

// portRange is how the flag says one.
func portRange() values.Type {
	return values.TypeOf("a range of ports, e.g. 30000-32767", map[string]any{"type": "string", "pattern": `^[0-9]+-[0-9]+$`}, func(v any) (string, bool) {
		s, ok := v.(string)
		r, err := utilnet.ParsePortRange(s)
		return s, ok && err == nil && r.Size > 0 && r.Base > 0
	})
}
