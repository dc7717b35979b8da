package hazard

import (
	"context"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"ipamsim/sim/cluster/action"
)

// refusals are the shares of calls that a hazard refuses.
var refusals = []float64{0.2, 1}

// planCloud is the hazard.
func planCloud(ctx context.Context, h *hazard) (event, error) {
	i, err := h.draw(ctx, "fault", 3)
	if err != nil {
		return event{}, err
	}
	share, err := h.draw(ctx, "share", len(refusals))
	if err != nil {
		return event{}, err
	}
	d, err := h.duration(ctx)
	return event{Action: &action.CloudFault{
		Fault: []string{"refuse", "partial", "slow"}[i], Share: refusals[share], For: metav1.Duration{Duration: h.clip(d)},
	}}, err
}

// planPlugin is the hazard.
func planPlugin(ctx context.Context, h *hazard) (event, error) {
	n, ok, err := h.node(ctx)
	if !ok {
		return event{}, err
	}
	kind, _, err := one(ctx, h, "type", h.c.Plugins.Types())
	if err != nil {
		return event{}, err
	}
	command, _, err := one(ctx, h, "command", []string{"ADD", "DEL", ""})
	if err != nil {
		return event{}, err
	}
	d, err := h.duration(ctx)
	return event{Action: &action.PluginFault{Node: n, Type: kind, Command: command, For: metav1.Duration{Duration: h.clip(d)}}}, err
}

// planDisk is the hazard.
func planDisk(ctx context.Context, h *hazard) (event, error) {
	n, ok, err := h.node(ctx)
	if !ok {
		return event{}, err
	}
	all := action.DiskFaults()
	i, err := h.draw(ctx, "fault", len(all))
	if err != nil {
		return event{}, err
	}
	d, err := h.duration(ctx)
	return event{Action: &action.DiskFault{Node: n, Fault: all[i], For: metav1.Duration{Duration: h.clip(d)}}}, err
}
