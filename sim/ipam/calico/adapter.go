package calico

import (
	"cmp"
	"sync"

	"github.com/projectcalico/calico/libcalico-go/config"
	apiextv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	"ipamsim/sim/ipam"
	"ipamsim/sim/ipam/calico/ctl"
	"ipamsim/sim/ipam/calico/store"
)

// New returns Calico as an address manager. Call it outside of bubbles: it builds the objects that
// upstream builds once for a process.
func New() *ipam.Manager {
	prepare()
	_, _ = store.Template() // Open reports its error, as of crds
	_, _ = crds()
	felixDefaults()
	return &ipam.Manager{
		Name: "calico", Upstream: upstreamVersion(), Sources: sources(), Processes: processes,
		CRDs: crds, Aliases: aliases(), Datastores: []string{store.Kubernetes, store.Etcd},
		Annotations: ipam.Annotations{
			// Source: libcalico-go/lib/backend/k8s/conversion, AnnotationContainerID.
			Container: "cni.projectcalico.org/containerID",
			Addresses: "cni.projectcalico.org/ipAddrs",
			Static:    "cni.projectcalico.org/ipAddrsNoIpam",
			Writes:    []string{"cni.projectcalico.org/podIP", "cni.projectcalico.org/podIPs"},
			Node:      bgpAddress,
			Node6:     bgp6Address,
		},
		Plugin:  pluginType,
		Primary: primary, CheckCommand: ctl.Check, Read: read, Devices: devicesOf, Open: openInstance,
	}
}

const module = "github.com/projectcalico/calico"

// released are the tags of the commits that pseudo-versions name: Calico tags no
// Go modules.
var released = map[string]string{"v0.0.0-20251021213802-b1f3c43f8437": store.Version}

// upstreamVersion is the linked version, from the build information. A test binary, which has none,
// uses the version of go.mod.
func upstreamVersion() string {
	return cmp.Or(ipam.Upstream(module, released), module+"@"+store.Version)
}

// crdNames are the custom resources that IPAM, its reconciler and calicoctl use.
var crdNames = []string{
	"ippools", "ipamblocks", "blockaffinities", "ipamhandles", "ipamconfigs", "ipreservations", "clusterinformations",
	"kubecontrollersconfigurations", "felixconfigurations", "bgpconfigurations", "bgppeers", "hostendpoints", "tiers",
}

// crds are upstream's own, embedded in libcalico-go. It is done once a process: reading
// YAML costs as much as a small run.
var crds = sync.OnceValues(func() ([]*apiextv1.CustomResourceDefinition, error) {
	var out []*apiextv1.CustomResourceDefinition
	for _, r := range crdNames {
		crd, err := config.LoadCRD("crd.projectcalico.org", r)
		if err != nil {
			return nil, err
		}
		out = append(out, crd)
	}
	return out, nil
})

// openInstance starts Calico in one run.
func openInstance(env ipam.Env) (ipam.Instance, error) {
	i, err := instanceIn(env)
	if err != nil {
		return ipam.Instance{}, err
	}
	return i.opened(), nil
}

func (i *instance) opened() ipam.Instance {
	return ipam.Instance{
		Add: i.Add, Del: i.Del, Run: i.run(), Observe: i.Observe, Act: i.Act, Adopt: i.Adopt, Command: i.Command,
		Keep: &ipam.Keep{Keeps: i.Keeps, Change: i.Change, Names: i.Names, Export: i.Export},
	}
}

// OpenWithLoadBalancer starts Calico in one run, with the load balancer controller as an additional
// process: see package loadbalancer.
func OpenWithLoadBalancer(env ipam.Env) (ipam.Instance, error) {
	i, err := instanceIn(env)
	if err != nil {
		return ipam.Instance{}, err
	}
	out := i.opened()
	out.Run[LoadBalancerController] = i.loadBalancer
	return out, nil
}

// instanceIn is Calico in one run.
func instanceIn(env ipam.Env) (*instance, error) {
	env.Datastore = cmp.Or(env.Datastore, store.Kubernetes)
	ds, err := store.Open(env)
	if err != nil {
		return nil, err
	}
	return newInstance(env, ds)
}
