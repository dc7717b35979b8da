package whereabouts

import (
	"embed"
	"encoding/json"
	"fmt"
	"sync"

	"github.com/k8snetworkplumbingwg/whereabouts/pkg/allocate"
	"github.com/k8snetworkplumbingwg/whereabouts/pkg/logging"
	apiextv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"sigs.k8s.io/yaml"

	"ipamsim/model"
	"ipamsim/sim/ipam"
	"ipamsim/sim/ipam/platform"
)

// module is upstream's path.
const module = "github.com/k8snetworkplumbingwg/whereabouts"

// namespace is the namespace of Whereabouts' objects: the default of its manifests, of its
// kubeconfig (wbNamespaceFromCtx) and of its control loop.
const namespace = "kube-system"

// New returns Whereabouts as an address manager. Its only state are upstream's global variables,
// which the first call sets permanently: upstream's log is off.
func New() *ipam.Manager {
	settle()
	return &ipam.Manager{
		Name: "whereabouts", Upstream: upstreamVersion(), Demo: "r1-whereabouts-162", Sources: sources(), Processes: processes(),
		// A second network's plugin writes none: that of a first one by Calico does.
		Annotations: ipam.Annotations{Container: "cni.projectcalico.org/containerID", Node: "projectcalico.org/IPv4Address", Node6: "projectcalico.org/IPv6Address"},
		CRDs:        crds, Network: readNetwork, Check: check, Read: readRecord, Open: open,
	}
}

var settle = sync.OnceFunc(func() {
	logging.SetLogStderr(false)
	logging.SetLogLevel("panic")
})

// root is the folder of upstream's module.
func root() string { return ipam.Root(module, allocate.AssignIP) }

// upstreamVersion is "github.com/k8snetworkplumbingwg/whereabouts@v0.9.4", as the build
// knows it.
func upstreamVersion() string { return ipam.Linked(module, root()) }

//go:embed upstream/crds/*.yaml
var definitions embed.FS

// crds are IPPool, NodeSlicePool and OverlappingRangeIPReservation, byte for byte
// as in upstream's doc/crds.
//
// It is done once a process: reading YAML costs as much as two ADDs.
var crds = sync.OnceValues(func() ([]*apiextv1.CustomResourceDefinition, error) {
	files, err := definitions.ReadDir("upstream/crds")
	if err != nil {
		return nil, fmt.Errorf("whereabouts: %w", err)
	}
	var out []*apiextv1.CustomResourceDefinition
	for _, f := range files {
		b, err := definitions.ReadFile("upstream/crds/" + f.Name())
		if err != nil {
			return nil, fmt.Errorf("whereabouts: %w", err)
		}
		crd := &apiextv1.CustomResourceDefinition{}
		if err := yaml.UnmarshalStrict(b, crd); err != nil {
			return nil, fmt.Errorf("whereabouts: %s: %w", f.Name(), err)
		}
		out = append(out, crd)
	}
	return out, nil
})

// readNetwork reads the policy with upstream's own parser. It also refuses configurations that
// upstream would silently ignore, or that make every ADD fail or crash.
func readNetwork(key string, config json.RawMessage) (model.Network, bool, error) {
	n, ok, err := network(key, config)
	if err != nil {
		return model.Network{}, true, fmt.Errorf("whereabouts: %s: %w", key, err)
	}
	return n, ok, nil
}

// open starts Whereabouts in one run. It starts no goroutine.
func open(env ipam.Env) (ipam.Instance, error) {
	i := &instance{env: env, stdin: map[string][]byte{}, hosts: map[string]*platform.Host{}, record: newRecord(env.Networks)}
	if env.API != nil {
		if err := i.record.follow(env.API); err != nil {
			return ipam.Instance{}, fmt.Errorf("whereabouts: %w", err)
		}
	}
	return ipam.Instance{Add: i.Add, Del: i.Del, Run: i.run(), Observe: i.Observe, Act: i.Act}, nil
}

// instance is Whereabouts in one run.
type instance struct {
	env    ipam.Env
	record *record

	mu    sync.Mutex // never held while a message is parked
	stdin map[string][]byte
	hosts map[string]*platform.Host // by node
}
