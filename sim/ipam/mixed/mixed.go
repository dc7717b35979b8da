// Package mixed is two address managers in one cluster: one serves the network
// that every pod gets, the other those that pods ask for, as Calico and
// Whereabouts behind Multus. Both are the real ones; here they are put side by
// side.
package mixed

import (
	"cmp"
	"context"
	"encoding/json"
	"slices"

	apiextv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	"ipamsim/model"
	"ipamsim/sim/ipam"
)

// pair is both.
type pair struct{ first, second *ipam.Manager }

// New combines two managers in one cluster. A scenario names both: "calico+whereabouts". The first
// manager has everything that belongs to the primary network, the datastore and the command-line
// tool. Manifests of both are accepted; if both have a kind of one name (IPPool), the group
// determines the manager.
func New(first, second *ipam.Manager) *ipam.Manager {
	p, m := pair{first, second}, *first
	m.Name = first.Name + "+" + second.Name
	m.Members = []string{first.Name, second.Name}
	m.Upstream = first.Upstream + " + " + second.Upstream
	m.Sources = slices.Concat(first.Sources, second.Sources)
	m.Processes = slices.Concat(first.Processes, second.Processes)
	m.CRDs, m.Network, m.Check, m.Open, m.Parts = p.crds, p.network, p.check, p.open, nil
	if first.Primary != nil {
		m.Primary = p.primary
	}
	if m.Policy = nil; first.Policy != nil || second.Policy != nil {
		m.Policy = p.policy
	}
	if m.Read = nil; first.Read != nil && second.Read != nil {
		m.Read = p.read
	}
	return &m
}

// primary reads the first one's network, and names it: see instance.named.
func (p pair) primary(objects []ipam.Object) (model.Network, json.RawMessage, error) {
	n, config, err := p.first.Primary(objects)
	n.Name = cmp.Or(n.Name, n.Key)
	return n, config, err
}

// crds are the definitions of both, the first manager's last: of two kinds with one name the later
// counts.
func (p pair) crds() (out []*apiextv1.CustomResourceDefinition, err error) {
	for _, m := range []*ipam.Manager{p.second, p.first} {
		if m.CRDs == nil {
			continue
		}
		some, err := m.CRDs()
		if err != nil {
			return nil, err
		}
		out = append(out, some...)
	}
	return out, nil
}

// network asks both.
func (p pair) network(key string, config json.RawMessage) (n model.Network, ok bool, err error) {
	for _, m := range []*ipam.Manager{p.second, p.first} {
		if m.Network == nil {
			continue
		}
		if n, ok, err = m.Network(key, config); ok || err != nil {
			break
		}
	}
	return n, ok, err
}

// policy asks the one that serves the network.
func (p pair) policy(n model.Network, config json.RawMessage, objects []ipam.Object) (model.Network, error) {
	for _, m := range []*ipam.Manager{p.second, p.first} {
		if m.Network == nil || m.Policy == nil {
			continue
		}
		if _, ok, err := m.Network(n.Key, config); ok && err == nil {
			return m.Policy(n, config, objects)
		}
	}
	return n, nil
}

// check asks both.
func (p pair) check(objects []ipam.Object) error {
	for _, m := range []*ipam.Manager{p.first, p.second} {
		if m.Check == nil {
			continue
		}
		if err := m.Check(objects); err != nil {
			return err
		}
	}
	return nil
}

// open starts both in one run.
func (p pair) open(env ipam.Env) (ipam.Instance, error) {
	first, err := p.first.Open(env)
	if err != nil {
		return ipam.Instance{}, err
	}
	env.Datastore, env.Device = "", nil
	second, err := p.second.Open(env)
	if err != nil {
		return ipam.Instance{}, err
	}
	return join(first, second, env.Networks), nil
}

// read is the record of both.
func (p pair) read(objects []ipam.Object, networks []model.Network) (model.Snapshot, error) {
	first, err := p.first.Read(objects, networks)
	if err != nil {
		return model.Snapshot{}, err
	}
	second, err := p.second.Read(objects, networks)
	if err != nil {
		return model.Snapshot{}, err
	}
	return join(still(first), still(second), networks).Observe(context.Background())
}

// still is an instance that has only a record.
func still(s model.Snapshot) ipam.Instance {
	return ipam.Instance{Observe: func(context.Context) (model.Snapshot, error) { return s, nil }}
}
