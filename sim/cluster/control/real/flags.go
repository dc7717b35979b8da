package real

import (
	"errors"

	"k8s.io/kubernetes/pkg/controller/apis/config"

	"ipamsim/sim/cluster/control"
	"ipamsim/sim/controlplane"
)

// Check returns a *control.BadArg if a program of the control plane would not start.
func Check(p control.Plane) error {
	_, _, err := configured(p)
	return err
}

// configured parses the flags of the two programs.
func configured(p control.Plane) (m *config.KubeControllerManagerConfiguration, s *controlplane.SchedulerConfig, err error) {
	if m, err = controlplane.ManagerConfig(flags(p.ControllerManager)); err != nil {
		return nil, nil, bad("controllerManager", p.ControllerManager, err)
	}
	if s, err = controlplane.ParseScheduler(flags(p.Scheduler)); err != nil {
		return nil, nil, bad("scheduler", p.Scheduler, err)
	}
	return m, s, nil
}

func flags(x control.Component) (out []controlplane.Flag) {
	for _, a := range x.ExtraArgs {
		out = append(out, controlplane.Flag(a))
	}
	return out
}

func bad(component string, x control.Component, err error) error {
	b := &control.BadArg{Component: component, At: -1, Err: err}
	var f *controlplane.FlagError
	if errors.As(err, &f) {
		b.At, b.Known = f.At, f.Known
	}
	if b.At >= 0 {
		b.Name = x.ExtraArgs[b.At].Name
	}
	return b
}
