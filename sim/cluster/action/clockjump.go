package action

import (
	"context"
	"fmt"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"ipamsim/model"
	"ipamsim/sim/cluster"
)

// ClockJump sets the wall clock of a machine forward or back, as when NTP corrects it. Every
// process on the machine sees the new time immediately; durations and timers are not affected. It
// needs the hermetic runtime.
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

var clockJump = define(Kind{
	Name: "clockJump", Class: model.InjectedFault, Stops: model.StopsProcesses,
	Doc:     "The wall clock of a machine is set forward or back. Needs the hermetic runtime.",
	Hazards: []Hazard{{Name: "clockJump", Doc: "the wall clock of a machine jumps forward or back, for good", Named: true, Needs: always, Plan: planClockJump}},
}, func(c Checker, a *ClockJump) {
	if a.Node != "" {
		c.Node(a.Node, "node")
	}
	c.Bad(a.By.Duration == 0, Part{"by"}, "missing: by how much, e.g. 10m")
	c.Bad(a.By.Duration > jumpMax, Part{"by"}, "%s is too far, want at most a year", brief(a.By))
})

// jumpMax is how far a clock may jump. Virtual time begins in the year 2000, and
// every date must have four digits.
const jumpMax = 366 * 24 * time.Hour

// jumps are the amounts by which a clock jumps: a correction by NTP, a machine that was off without
// a battery, a time zone that was set incorrectly.
var jumps = []time.Duration{time.Second, -time.Second, 10 * time.Minute, -10 * time.Minute, 24 * time.Hour, -24 * time.Hour}

func planClockJump(ctx context.Context, d Draw) (Planned, error) {
	n, _, err := one(ctx, d, "machine", append(d.Cluster().Nodes(), ""))
	if err != nil {
		return Planned{}, err
	}
	i, err := d.Choose(ctx, "by", len(jumps))
	return Planned{Action: &ClockJump{Node: n, By: metav1.Duration{Duration: jumps[i].Abs()}, Back: jumps[i] < 0}}, err
}
