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

// Adapter is the canary as an address manager.
type Adapter struct{}

var _ ipam.Adapter = Adapter{}

// New returns the adapter.
func New() Adapter { return Adapter{} }

// Name is the ipam type of the networks it serves.
func (Adapter) Name() string { return "canary" }

// Upstream says that there is none.
func (Adapter) Upstream() string { return "ipamsim/sim/ipam/canary@built-in" }

// CRDs is the definition of CanaryPool.
func (Adapter) CRDs() ([]*apiextv1.CustomResourceDefinition, error) {
	d := &apiextv1.CustomResourceDefinition{}
	if err := yaml.UnmarshalStrict(crd, d); err != nil {
		return nil, fmt.Errorf("canary: canarypool.yaml: %w", err)
	}
	return []*apiextv1.CustomResourceDefinition{d}, nil
}

// Network reads the policy out of a NetworkAttachmentDefinition.
func (Adapter) Network(key string, raw json.RawMessage) (model.Network, bool, error) {
	p, ok, err := parse(key, raw)
	return p.network, ok, err
}

// Open starts the canary in one run.
func (Adapter) Open(env ipam.Env) (ipam.Instance, error) {
	i := &instance{api: env.API, networks: env.Networks, doors: env.Doors}
	if env.Cloud != nil {
		i.cloud = env.Cloud(cloud.Options{Name: "cloud", Operations: operations})
	}
	i.stale.Store(true)
	env.API.OnChange(i.noticed)
	return i, nil
}
