package action

import (
	"context"
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"ipamsim/sim/cluster"
)

// ClockJump sets the wall clock of a machine forward or back, as when NTP corrects
// it. Every process of it sees the new time at once; what they measure and wait
// for goes on as before. It needs the hermetic runtime.
type ClockJump struct {
	Node string          `json:"node,omitempty"` // default: the machine that the manager's deployments run on
	By   metav1.Duration `json:"by"`             // forward
	Back bool            `json:"back,omitempty"` // back instead
}

// Do sets it.
func (a *ClockJump) Do(_ context.Context, o *cluster.Operator) error {
	if a.Node != "" {
		if err := o.Cluster.CheckNode(a.Node); err != nil {
			return err
		}
	}
	by := a.By.Duration
	if a.Back {
		by = -by
	}
	o.Cluster.Clock(a.Node).Jump(by)
	return nil
}

func (a *ClockJump) String() string {
	way := "forward"
	if a.Back {
		way = "back"
	}
	whose := "node " + a.Node
	if a.Node == "" {
		whose = "the controllers' machine"
	}
	return fmt.Sprintf("the clock of %s jumps %s by %v", whose, way, a.By.Duration)
}
