// Package mixed is two address managers in one cluster: one serves the network
// that every pod gets, the other those that pods ask for, as Calico and
// Whereabouts behind Multus. Both are the real ones; here they are put side by
// side.
package mixed

import (
	"cmp"
	"context"
	"encoding/json"

	corev1 "k8s.io/api/core/v1"
	apiextv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	"ipamsim/model"
	"ipamsim/sim/ipam"
)

// adapter is both. What only a primary network has is the first one's.
type adapter struct{ first, second ipam.Adapter }

var (
	_ ipam.Adapter = adapter{}
	_ ipam.Primary = adapter{}
	_ ipam.Tool    = adapter{}
	_ ipam.Reader  = adapter{}
	_ ipam.Checker = adapter{}
	_ ipam.Hoster  = adapter{}
)

// New puts two managers into one cluster. The first must be an ipam.Primary and
// an ipam.Tool and an ipam.Hoster, both ipam.Readers, and the second an ipam.Checker.
// Both kinds of manifests are accepted; where both have a kind of one name (IPPool),
// the group says whose a manifest is.
func New(first, second ipam.Adapter) ipam.Adapter {
	return adapter{first, second}
}

// Primary reads the first one's network, and names it: see instance.named.
func (a adapter) Primary(objects []ipam.Object) (model.Network, json.RawMessage, error) {
	n, config, err := a.first.(ipam.Primary).Primary(objects)
	n.Name = cmp.Or(n.Name, n.Key)
	return n, config, err
}

// Datastores are those the first one may keep its record in.
func (a adapter) Datastores() []string { return a.first.(ipam.Primary).Datastores() }

// Aliases are the first one's.
func (a adapter) Aliases() map[string][]ipam.Alias { return a.first.(ipam.Primary).Aliases() }

// CheckCommand is for the first one's tool.
func (a adapter) CheckCommand(argv []string) error { return a.first.(ipam.Tool).CheckCommand(argv) }

// Name is what a scenario calls the two: "calico+whereabouts".
func (a adapter) Name() string { return a.first.Name() + "+" + a.second.Name() }

// Upstream are both versions.
func (a adapter) Upstream() string { return a.first.Upstream() + " + " + a.second.Upstream() }

// CRDs are those of both, the first one's last: of two kinds with one name the
// later one counts.
func (a adapter) CRDs() ([]*apiextv1.CustomResourceDefinition, error) {
	second, err := a.second.CRDs()
	if err != nil {
		return nil, err
	}
	first, err := a.first.CRDs()
	return append(second[:len(second):len(second)], first...), err
}

// Network asks both.
func (a adapter) Network(key string, config json.RawMessage) (model.Network, bool, error) {
	n, ok, err := a.second.Network(key, config)
	if ok || err != nil {
		return n, ok, err
	}
	return a.first.Network(key, config)
}

// Open starts both in one run.
func (a adapter) Open(env ipam.Env) (ipam.Instance, error) {
	first, err := a.first.Open(env)
	if err != nil {
		return nil, err
	}
	env.Datastore, env.Device = "", nil
	second, err := a.second.Open(env)
	if err != nil {
		return nil, err
	}
	return join(first, second, env.Networks), nil
}

// join puts the two next to each other.
func join(first, second ipam.Instance, networks []model.Network) *instance {
	i := &instance{first: first, second: second, of: map[string]ipam.Instance{}}
	for _, n := range networks {
		i.of[n.Key] = second
		if n.Blocks != nil { // addresses from blocks are what makes a primary network
			i.of[n.Key], i.name = first, n.Name
		} else {
			i.others = append(i.others, n)
		}
	}
	return i
}

// Read is the record of both.
func (a adapter) Read(objects []ipam.Object, networks []model.Network) (model.Snapshot, error) {
	first, err := a.first.(ipam.Reader).Read(objects, networks)
	if err != nil {
		return model.Snapshot{}, err
	}
	second, err := a.second.(ipam.Reader).Read(objects, networks)
	if err != nil {
		return model.Snapshot{}, err
	}
	return join(still{snapshot: first}, still{snapshot: second}, networks).Observe(context.Background())
}

// still is a manager of which only the record is known.
type still struct {
	ipam.Instance
	snapshot model.Snapshot
}

func (s still) Observe(context.Context) (model.Snapshot, error) { return s.snapshot, nil }

// Check is for the second one's objects; Primary judges the first one's.
func (a adapter) Check(objects []ipam.Object) error { return a.second.(ipam.Checker).Check(objects) }

// Devices are the first one's.
func (a adapter) Devices(n *corev1.Node) []ipam.Device { return a.first.(ipam.Hoster).Devices(n) }
