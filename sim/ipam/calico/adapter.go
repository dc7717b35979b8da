package calico

import (
	"cmp"
	"encoding/json"
	"sync"

	apiextv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	"github.com/projectcalico/calico/libcalico-go/config"

	"ipamsim/model"
	"ipamsim/sim/ipam"
)

// adapter is Calico as an address manager.
type adapter struct{}

var _ ipam.Adapter = adapter{}

// New returns the adapter. Call it outside of bubbles: what upstream builds once
// for a process is built here.
func New() ipam.Adapter {
	prepare()
	_, _ = template() // Open reports its error, as of crds
	_, _ = crds()
	felixDefaults()
	return adapter{}
}

// Name is what a scenario calls it.
func (adapter) Name() string { return "calico" }

const module = "github.com/projectcalico/calico"

// released are the tags of the commits that pseudo-versions name: Calico tags no
// Go modules.
var released = map[string]string{"v0.0.0-20251021213802-b1f3c43f8437": version}

// Upstream is the version that is linked in, as the build itself knows it. A test
// binary does not; it has the version of go.mod.
func (adapter) Upstream() string {
	return cmp.Or(ipam.Upstream(module, released), module+"@"+version)
}

// crdNames are the custom resources that IPAM, its reconciler and calicoctl use.
var crdNames = []string{
	"ippools", "ipamblocks", "blockaffinities", "ipamhandles", "ipamconfigs", "ipreservations", "clusterinformations",
	"kubecontrollersconfigurations", "felixconfigurations", "bgpconfigurations", "bgppeers", "hostendpoints", "tiers",
}

// CRDs are upstream's own, embedded in libcalico-go.
func (adapter) CRDs() ([]*apiextv1.CustomResourceDefinition, error) { return crds() }

// crds is done once a process: reading YAML costs as much as a small run.
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

// Network is never Calico's: it serves the cluster's default network only.
func (adapter) Network(string, json.RawMessage) (model.Network, bool, error) {
	return model.Network{}, false, nil
}

// Open starts Calico in one run.
func (adapter) Open(env ipam.Env) (ipam.Instance, error) {
	ds, err := openDatastore(env)
	if err != nil {
		return nil, err
	}
	return newInstance(env, ds)
}
