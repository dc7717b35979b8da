// Package action has what happens to a cluster from outside: what an operator types, and
// what befalls machines. One file each; scenarios.Event lists them.
package action

import (
	"context"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"ipamsim/model"
	"ipamsim/sim/cluster"
	"ipamsim/sim/cluster/kubeapi"
)

// orDefault is the namespace kubectl takes when none is said.
func orDefault(namespace string) string {
	if namespace == "" {
		return "default"
	}
	return namespace
}

// slow is the fault of disks and clouds that needs By.
const slow = "slow"

// lasts ends a fault after a while, if it has an end, and takes note of that.
func lasts(ctx context.Context, o *cluster.Operator, a cluster.Action, d metav1.Duration, end func()) error {
	if d.Duration == 0 {
		return nil
	}
	if !kubeapi.Sleep(ctx, d.Duration) {
		return ctx.Err()
	}
	end()
	o.Cluster.Checker.Record(model.Event{Kind: model.Operator, Actor: o.ID, Deed: cluster.Deed(a), Over: true, Text: "no longer: " + a.String()})
	return nil
}
