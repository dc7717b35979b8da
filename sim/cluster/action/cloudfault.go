package action

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"ipamsim/model"
	"ipamsim/sim/cloud"
	"ipamsim/sim/cluster"
)

// CloudFault makes a provider's API fail or respond slowly for a while.
type CloudFault struct {
	// Fault: refuse (a share of calls is refused), partial (a share of writes fails after
	// the first thing that it did), slow.
	Fault string          `json:"fault" jsonschema:"required,enum=refuse,enum=partial,enum=slow"`
	Share float64         `json:"share,omitempty" unset:"1"`       // of calls, 0.05 to 1; which ones the schedule says; default all
	By    metav1.Duration `json:"by,omitzero" unset:"1s"`          // slow: what each call takes at least; default 1s
	For   metav1.Duration `json:"for,omitzero" unset:"to the end"` // default: to the end
}

var cloudFaults = map[string]cloud.Fault{"refuse": cloud.Refuse, "partial": cloud.Partial}

// ErrNoCloud is why a fault of the cloud cannot happen.
var ErrNoCloud = errors.New("the address manager calls no cloud")

// Do begins it and, later, ends it.
func (a *CloudFault) Do(ctx context.Context, o *cluster.Operator) error {
	if len(o.Cluster.Clouds()) == 0 {
		return ErrNoCloud
	}
	var ends []func()
	for _, c := range o.Cluster.Clouds() {
		if a.Fault == slow {
			ends = append(ends, c.Slow(a.slower()))
		} else {
			ends = append(ends, c.Fail(cloudFaults[a.Fault], a.share()))
		}
	}
	return lasts(ctx, o, a, a.For, func() {
		for _, end := range ends {
			end()
		}
	})
}

func (a *CloudFault) share() float64 { return cmp.Or(a.Share, 1) }

func (a *CloudFault) slower() time.Duration { return cmp.Or(a.By.Duration, time.Second) }

func (a *CloudFault) String() string {
	switch a.Fault {
	case slow:
		return fmt.Sprintf("the cloud is slow by %v", a.slower())
	case "partial":
		return fmt.Sprintf("the cloud fails in the middle of %.0f %% of writes", 100*a.share())
	}
	return fmt.Sprintf("the cloud refuses %.0f %% of calls", 100*a.share())
}

var cloudFault = define(Kind{
	Name: "cloud", Class: model.InjectedFault, Stops: model.StopsProcesses,
	Doc:     "The provider's API refuses calls, fails in the middle of them, or is slow.",
	Hazards: []Hazard{{Name: "cloud", Doc: "the provider's API refuses calls, fails in the middle of them, or is slow", Named: true, Needs: callsCloud, Plan: planCloud}},
}, func(c Checker, a *CloudFault) {
	needs(c, callsCloud)
	c.Bad(a.Share != 0 && (a.Share < 0.05 || a.Share > 1), Part{"share"}, "want 0.05 to 1, a share of calls")
	c.Bad(a.Share != 0 && a.Fault == slow, Part{"share"}, "a slow cloud is slow for all calls")
	c.Bad(a.By.Duration > 0 && a.Fault != slow, Part{"by"}, "only of a slow cloud")
})

// refusals are the shares of calls that a hazard refuses.
var refusals = []float64{0.2, 1}

func planCloud(ctx context.Context, d Draw) (Planned, error) {
	i, err := d.Choose(ctx, "fault", 3)
	if err != nil {
		return Planned{}, err
	}
	share, err := d.Choose(ctx, "share", len(refusals))
	if err != nil {
		return Planned{}, err
	}
	long, err := lasting(ctx, d)
	return Planned{Action: &CloudFault{Fault: []string{"refuse", "partial", slow}[i], Share: refusals[share], For: long}}, err
}
