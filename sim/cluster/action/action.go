// Package action defines the actions that affect a cluster from outside: commands of an operator,
// and faults of machines. Each has a file; all.go lists them.
package action

import (
	"context"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"ipamsim/model"
	"ipamsim/sim/cluster"
	"ipamsim/sim/cluster/kubeapi"
)

// orDefault is the namespace that kubectl uses if none is given.
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
	o.Cluster.Checker.Record(model.Event{Kind: model.Operator, Actor: o.ID, Action: Ref(a), Over: true, Text: "no longer: " + a.String()})
	return nil
}

// needs reports what the cluster lacks for the action.
func needs(c Checker, lack func(Scope) string) {
	if problem := lack(c.Scope()); problem != "" {
		c.Bad(true, nil, "%s", problem)
	}
}

// oneLine is the text of another library's error on one line, at most 400 characters.
func oneLine(err error) string {
	s := []rune(strings.Join(strings.Fields(err.Error()), " "))
	if len(s) > 400 {
		s = append(s[:400], '…')
	}
	return string(s)
}

// brief is a duration without zero minutes and seconds.
func brief(d metav1.Duration) string {
	s := d.Duration.String()
	if strings.HasSuffix(s, "m0s") {
		s = strings.TrimSuffix(s, "0s")
	}
	if strings.HasSuffix(s, "h0m") {
		s = strings.TrimSuffix(s, "0m")
	}
	return s
}
