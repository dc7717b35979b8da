package metallb

import (
	"context"
	"errors"
	"fmt"
	_ "unsafe" // for linkname

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	coreclient "k8s.io/client-go/kubernetes/typed/core/v1"
	"k8s.io/client-go/rest"

	"ipamsim/sim"
	"ipamsim/sim/hermetic"
	"ipamsim/sim/ipam"
	"ipamsim/sim/ipam/metallb/adapter"
	_ "ipamsim/sim/ipam/metallb/upstream/program" // called by name
	"ipamsim/sim/ipam/platform"
	"ipamsim/sim/kube"
)

//go:linkname main ipamsim/sim/ipam/metallb/upstream/program.main
func main()

var errStock = errors.New("metallb: its controller can only be run on the hermetic runtime; make build uses it")

// control is one run of the controller from its main function on, until ctx ends. On the
// stock runtime it ends the run: upstream leaves goroutines that have no end, and a bubble
// there waits for them.
//
// Source: config/manifests/metallb-native.yaml (v0.16.2). Off are the webhooks and their
// certificates, and the Secret that the speakers find each other by.
func (i *instance) control(ctx context.Context, g *sim.Gate, _ string) error {
	if !hermetic.Enabled {
		g.World().Abort(errStock)
		return errStock
	}
	if i.housed.Do(i.house); i.err != nil {
		return i.err
	}
	p := &platform.Program{
		Name: Controller, Host: platform.NewHost(map[string][]byte{}), Ctx: ctx, Term: g.Term, Machine: machine{i.env, g}, Crash: g.Crash,
		Env:   map[string]string{"METALLB_NAMESPACE": namespace, "METALLB_POD_NAME": Controller, "METALLB_DEPLOYMENT": "controller"},
		Flags: map[string]string{"webhook-mode": "disabled", "disable-cert-rotation": "true"},
	}
	end := p.Run(main)
	g.Exited() // a status update of a pool that is no longer received blocks a handler, with its mutex, forever
	if ctx.Err() != nil {
		return ctx.Err()
	}
	return fmt.Errorf("exit status %d", end.Code)
}

// house creates the controller's own pod, which owns the objects that the controller creates. No
// scheduler binds the pod and no kubelet starts it: the process is started by the run.
func (i *instance) house() {
	c, err := coreclient.NewForConfig(kube.Config(i.env.API.Direct()))
	if err != nil {
		i.err = err
		return
	}
	p := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: Controller}}
	p.Spec = corev1.PodSpec{SchedulerName: "none", HostNetwork: true, Containers: []corev1.Container{{Name: "controller", Image: "controller"}}}
	_, i.err = c.Pods(namespace).Create(context.Background(), p, metav1.CreateOptions{})
}

// machine is a process of the run.
type machine struct {
	env ipam.Env
	g   *sim.Gate
}

var _ adapter.Machine = machine{}

func (m machine) Config() *rest.Config { return kube.Config(m.env.API.Transport(m.g)) }

func (m machine) Mapper() meta.RESTMapper { return m.env.API.Mapper() }
