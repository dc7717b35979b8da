package nodeipam

import (
	"context"
	"time"

	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/kubernetes/pkg/controller/nodeipam"
	"k8s.io/kubernetes/pkg/controller/nodeipam/ipam"

	"ipamsim/sim"
	"ipamsim/sim/ipam/kubeadm"
	"ipamsim/sim/kube"
	"ipamsim/sim/kube/elect"
)

// resync is the least interval in which upstream's informers process all objects again.
const resync = 12 * time.Hour

// manage is a kube-controller-manager that runs the node IPAM controller once it is the leader.
// It returns an error where the real program exits.
//
// The other controllers, its servers, and the events of the election are left out. Its identity
// is the name of the process, which is unique in the run.
//
// Source: cmd/kube-controller-manager/app/controllermanager.go, Run and
// leaderElectAndRun (v1.37.2).
func (i *instance) manage(ctx context.Context, g *sim.Gate, _ string) error {
	f, err := i.flags()
	if err != nil {
		return err
	}
	config := kube.Config(i.env.API.Transport(g))
	config.QPS, config.Burst = f.qps, f.burst
	if !f.elect {
		return f.control(ctx, config)
	}
	return elect.Run(ctx, config, elect.Options{
		Namespace: kubeadm.Namespace, Name: managerName, Identity: string(g.Actor()), Lease: f.lease, Renew: f.renew, Retry: f.retry,
	}, func(ctx context.Context) error { return f.control(ctx, config) })
}

// control runs the controller until ctx ends.
func (f *flags) control(ctx context.Context, config *rest.Config) error {
	r, err := f.ranges()
	if err != nil {
		return err
	}
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		return err
	}
	all := informers.NewSharedInformerFactory(client, resync)
	c, err := nodeipam.NewNodeIpamController(ctx, all.Core().V1().Nodes(), nil, client, r.clusters, r.services[0], r.services[1], r.masks, ipam.RangeAllocatorType)
	if err != nil {
		return err
	}
	go c.Run(ctx)
	all.Start(ctx.Done())
	<-ctx.Done()
	return ctx.Err()
}

// flags are the command line, as it was when the first process started: kubeadm writes
// it into a file of the machine.
func (i *instance) flags() (flags, error) {
	i.started.Do(func() { i.text, i.err = kubeadm.Stored(i.env.API) })
	if i.err != nil {
		return flags{}, i.err
	}
	return readFlags(i.text)
}
