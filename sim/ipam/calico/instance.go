package calico

import (
	"context"
	"encoding/json"
	"fmt"
	"sync"

	"ipamsim/model"
	"ipamsim/model/act"
	"ipamsim/sim/ipam"
	"ipamsim/sim/ipam/calico/ctl"
	"ipamsim/sim/ipam/calico/objects"
	"ipamsim/sim/ipam/calico/record"
	"ipamsim/sim/ipam/calico/store"
	"ipamsim/sim/ipam/platform"
)

// instance is Calico in one run.
type instance struct {
	objects.Keeper
	*ctl.Tool
	env    ipam.Env
	ds     store.Store
	record *record.Record
	mu     sync.Mutex
	hosts  map[string]*platform.Host  // by node
	parts  map[string]json.RawMessage // the calico plugin's, by list of plugins
	// setup prepares the datastore before the first process needs it.
	setup func() error
	// failed is a defect of the harness that could not be returned to a caller.
	failed error
}

func newInstance(env ipam.Env, ds store.Store) (*instance, error) {
	r, err := record.New(env)
	if err != nil {
		return nil, err
	}
	definitions, err := crds()
	if err != nil {
		return nil, err
	}
	i := &instance{env: env, ds: ds, record: r, Keeper: objects.New(env, ds, definitions), hosts: map[string]*platform.Host{}, parts: map[string]json.RawMessage{}}
	i.setup = sync.OnceValue(i.ready)
	i.Tool = ctl.New(env, ds, i.setup)
	if env.Datastore != store.Kubernetes {
		i.followNodes()
	}
	return i, nil
}

// ready does the work of Calico's installation: the cluster gets a name, its datastore is marked
// as ready, and the default tiers are created. It runs when the first process of Calico starts,
// after the scenario's own objects were stored, and passes no gate.
func (i *instance) ready() error {
	if i.failed != nil {
		return i.failed
	}
	c, err := i.ds.Client(nil, 0)
	if err != nil {
		return err
	}
	if err := c.EnsureInitialized(context.Background(), store.Version, "k8s"); err != nil {
		return fmt.Errorf("calico: datastore: %w", err)
	}
	return nil
}

// Observe is the record as of the last change, without a message.
func (i *instance) Observe(context.Context) (model.Snapshot, error) { return i.record.Observe() }

// Act describes what a step did.
func (i *instance) Act(detail any) act.Act { return i.record.Act(detail) }
