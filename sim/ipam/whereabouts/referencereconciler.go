package whereabouts

import (
	"context"

	wbv1client "github.com/k8snetworkplumbingwg/whereabouts/pkg/generated/clientset/versioned/typed/whereabouts.cni.cncf.io/v1alpha1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	coreclient "k8s.io/client-go/kubernetes/typed/core/v1"

	"ipamsim/model"
	reference "ipamsim/model/reference/whereabouts"
	"ipamsim/sim"
	"ipamsim/sim/ipam"
)

// referenceName is the name of our own ip-reconciler for a rule of model/reference/whereabouts:
// "reference-skip-pending". Its processes have this name in reports.
func referenceName(r reference.Rule) string { return "reference-" + string(r) }

// reference sends the messages of the ip-reconciler of 0.9.4, in the same order and under the same
// conditions, but decides by its own rule.
func (i *instance) reference(rule reference.Rule) ipam.Run {
	return func(ctx context.Context, g *sim.Gate, _ string) error {
		c := i.reach(g)
		records, err := wbv1client.NewForConfig(c)
		if err != nil {
			return err
		}
		core, err := coreclient.NewForConfig(c)
		if err != nil {
			return err
		}
		return (&referencePass{rule: rule, records: records, core: core}).run(ctx)
	}
}

// referencePass is one pass of a reconciler of our own. It differs from the real
// one only in what the order of a map decides there: it looks at the allocations
// of a pool, and removes them, in the order of their offsets.
//
// Source: pkg/reconciler/ip.go and iploop.go (v0.9.4).
type referencePass struct {
	rule    reference.Rule
	records wbv1client.WhereaboutsV1alpha1Interface
	core    coreclient.CoreV1Interface

	pools []*allocations
	pods  map[model.PodRef]*reference.Pod // those that count
}

// run judges everything, and then removes: allocations pool by pool, reservations
// after them. The first pool that cannot be written ends the pass, the first
// reservation that cannot be deleted does not.
func (p *referencePass) run(ctx context.Context) error {
	if err := p.list(ctx); err != nil {
		return err
	}
	for _, a := range p.pools {
		p.judge(ctx, a)
	}
	stale, err := p.staleReservations(ctx)
	if err != nil {
		return err
	}
	for _, a := range p.pools {
		if err := a.write(ctx, p.records); err != nil {
			return err
		}
	}
	return p.drop(ctx, stale)
}

// list reads the pools and the pods, in the rule's order.
//
// Source: NewReconcileLooperWithClient.
func (p *referencePass) list(ctx context.Context) error {
	var pods []reference.Pod
	var err error
	if p.rule.PodsBeforePools() {
		if pods, err = p.listPods(ctx); err != nil {
			return err
		}
	}
	if err := p.listPools(ctx); err != nil {
		return err
	}
	if !p.rule.PodsBeforePools() {
		if pods, err = p.listPods(ctx); err != nil {
			return err
		}
	}
	var all []model.Claim
	for _, a := range p.pools {
		for _, offset := range a.offsets {
			all = append(all, model.Claim{Pod: a.holder(offset)})
		}
	}
	p.pods = reference.Live(all, pods)
	return nil
}

func (p *referencePass) listPools(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, listTimeout)
	defer cancel()
	list, err := p.records.IPPools(metav1.NamespaceAll).List(ctx, metav1.ListOptions{})
	if err != nil {
		return err
	}
	for i := range list.Items {
		a, err := allocationsOf(&list.Items[i])
		if err != nil {
			return err
		}
		p.pools = append(p.pools, a)
	}
	return nil
}

func (p *referencePass) listPods(ctx context.Context) ([]reference.Pod, error) {
	ctx, cancel := context.WithTimeout(ctx, listTimeout)
	defer cancel()
	list, err := p.core.Pods(metav1.NamespaceAll).List(ctx, metav1.ListOptions{})
	if err != nil {
		return nil, err
	}
	pods := make([]reference.Pod, len(list.Items))
	for i := range list.Items {
		pods[i] = seen(&list.Items[i])
	}
	return pods, nil
}
