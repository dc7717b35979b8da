package canary

import (
	_ "embed"
	"encoding/json"
	"fmt"

	apiextv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"sigs.k8s.io/yaml"

	"ipamsim/model"
	"ipamsim/sim/cloud"
	"ipamsim/sim/ipam"
)

//go:embed canarypool.yaml
var crd []byte

// New returns the canary as an address manager.
func New() *ipam.Manager {
	const here = "ipamsim/sim/ipam/canary"
	const upstream = here + "@built-in" // there is no upstream
	return &ipam.Manager{
		Name: "canary", Upstream: upstream,
		Sources:   []ipam.Source{{Module: upstream, Package: here, Root: ipam.Root(here, New)}}, // its bugs are the manager's
		Processes: []ipam.Process{{Name: controllerName, Daemon: true}, {Name: reconcilerName}},
		CRDs:      crds, Network: readNetwork, Open: open,
		Uses: ipam.Uses{Disk: true, Cloud: true}, // where a network asks for it
	}
}

// crds is the definition of CanaryPool.
func crds() ([]*apiextv1.CustomResourceDefinition, error) {
	d := &apiextv1.CustomResourceDefinition{}
	if err := yaml.UnmarshalStrict(crd, d); err != nil {
		return nil, fmt.Errorf("canary: canarypool.yaml: %w", err)
	}
	return []*apiextv1.CustomResourceDefinition{d}, nil
}

// readNetwork reads the policy out of a NetworkAttachmentDefinition.
func readNetwork(key string, raw json.RawMessage) (model.Network, bool, error) {
	p, ok, err := parse(key, raw)
	return p.network, ok, err
}

// open starts the canary in one run.
func open(env ipam.Env) (ipam.Instance, error) {
	i := &instance{api: env.API, networks: env.Networks, backends: env.Backends}
	if env.Cloud != nil {
		i.cloud = env.Cloud(cloud.Options{Name: "cloud", Operations: operations})
	}
	i.stale.Store(true)
	env.API.OnChange(i.noticed)
	run := map[string]ipam.Run{controllerName: i.control, reconcilerName: i.reconcile}
	return ipam.Instance{Add: i.Add, Del: i.Del, Run: run, Observe: i.Observe, Act: i.Act}, nil
}
