package services

import (
	"context"
	"time"

	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/kubernetes/pkg/controller/servicecidrs"

	"ipamsim/sim"
	"ipamsim/sim/kube"
)

const (
	workers       = 5
	managerResync = 12 * time.Hour // of informers, at the least
)

// manage is a kube-controller-manager that runs the controller of ServiceCIDRs, and
// elects no leader: there is one.
//
// Source: cmd/kube-controller-manager/app/networking.go, newServiceCIDRsController
// (v1.37.2).
func (i *instance) manage(ctx context.Context, g *sim.Gate, _ string) error {
	c := kube.Config(i.env.API.Wire(g, i.pick(g, "")))
	c.QPS, c.Burst = 20, 30
	client, err := kubernetes.NewForConfig(c)
	if err != nil {
		return err
	}
	all := informers.NewSharedInformerFactory(client, managerResync)
	n := all.Networking().V1()
	controller := servicecidrs.NewController(ctx, n.ServiceCIDRs(), n.IPAddresses(), client)
	all.Start(ctx.Done())
	controller.Run(ctx, workers)
	return ctx.Err()
}
