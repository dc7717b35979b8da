package calico

import (
	"context"
	"errors"

	"ipamsim/sim"
	"ipamsim/sim/ipam"
	"ipamsim/sim/kube"
)

// networkKey is the name of Calico's network in its own CNI configuration, and
// the first part of every handle.
const networkKey = "k8s-pod-network"

// instance is Calico in one run.
type instance struct {
	env    ipam.Env
	ds     datastore
	record *record
}

func newInstance(env ipam.Env, ds datastore) (*instance, error) {
	r, err := newRecord(env)
	if err != nil {
		return nil, err
	}
	return &instance{env: env, ds: ds, record: r}, nil
}

// Add is one execution of the CNI plugin's ADD.
func (i *instance) Add(context.Context, *sim.Gate, ipam.Call) (ipam.Result, error) {
	return ipam.Result{}, errors.ErrUnsupported
}

// Del is one execution of the CNI plugin's DEL.
func (i *instance) Del(context.Context, *sim.Gate, ipam.Call) error { return errors.ErrUnsupported }

// Reconcilers are Calico's background processes.
func (i *instance) Reconcilers() []ipam.Reconciler { return i.collectors() }

// Describe puts a message into Calico's own words.
func (i *instance) Describe(kube.Exchange) string { return "" }
