package ipam

import (
	"ipamsim/sim"
	"ipamsim/sim/etcd"
	"ipamsim/sim/kube"
)

// Serve opens what every run of an address manager stands on: an API server inside
// the bubble of w, over the run's store, with the manager's own definitions. Watches
// follow the store after every step (Hooks.Settle); the server is closed when the
// world ends.
func Serve(w *sim.World, run *etcd.Run, m *Manager) (*kube.Server, error) {
	crds, err := m.Definitions()
	if err != nil {
		return nil, err
	}
	api, err := kube.New(run, crds)
	if err != nil {
		return nil, err
	}
	w.Cleanup(api.Close)
	w.Hooks.Settle = run.Pump
	return api, nil
}
