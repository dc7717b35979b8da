package action

import (
	"context"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"ipamsim/sim/cluster"
)

// What hazards need of a cluster.
var (
	always        = unless("", func(Scope) bool { return true })
	routed        = unless("the primary network announces no routes", func(s Scope) bool { return s.Routes })
	hasCron       = unless("no reconciler runs on a schedule: list one under spec.reconcilers", func(s Scope) bool { return s.Crons })
	hasDeployment = unless("no daemon runs that there could be a second one of", func(s Scope) bool { return s.Deployments })
	usesDisk      = unless("the address manager keeps no files on nodes", func(s Scope) bool { return s.Disk })
	hasNetworks   = unless("no CNI plugin attaches pods to a network", func(s Scope) bool { return s.Networks })
	callsCloud    = unless(ErrNoCloud.Error(), func(s Scope) bool { return s.Cloud })
)

// unless returns lack for a cluster without a feature.
func unless(lack string, has func(Scope) bool) func(Scope) string {
	return func(s Scope) string {
		if has(s) {
			return ""
		}
		return lack
	}
}

// onNode plans an action on a node that is up.
func onNode(act func(node string) cluster.Action) func(context.Context, Draw) (Planned, error) {
	return func(ctx context.Context, d Draw) (Planned, error) {
		n, ok, err := d.Node(ctx)
		if !ok {
			return Planned{}, err
		}
		return Planned{Action: act(n)}, nil
	}
}

// lastingOn plans an action on a node that ends by itself.
func lastingOn(act func(node string, d metav1.Duration) cluster.Action) func(context.Context, Draw) (Planned, error) {
	return func(ctx context.Context, d Draw) (Planned, error) {
		n, ok, err := d.Node(ctx)
		if !ok {
			return Planned{}, err
		}
		long, err := lasting(ctx, d)
		return Planned{Action: act(n, long)}, err
	}
}

// undone plans an action on a node, and the action that ends it.
func undone(act func(node string, undo bool) cluster.Action) func(context.Context, Draw) (Planned, error) {
	return func(ctx context.Context, d Draw) (Planned, error) {
		n, ok, err := d.Node(ctx)
		if !ok {
			return Planned{}, err
		}
		long, err := lasting(ctx, d)
		return Planned{Action: act(n, false), After: long.Duration, Undo: act(n, true)}, err
	}
}

// lasting asks for how long, beginning now.
func lasting(ctx context.Context, d Draw) (metav1.Duration, error) {
	long, err := d.Duration(ctx)
	return metav1.Duration{Duration: d.Clip(long)}, err
}

// one asks the schedule for one of several elements; ok is false if there is none.
func one[T any](ctx context.Context, d Draw, what string, of []T) (x T, ok bool, err error) {
	if len(of) == 0 {
		return x, false, nil
	}
	i, err := d.Choose(ctx, what, len(of))
	return of[i], err == nil, err
}
