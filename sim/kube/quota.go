package kube

import (
	"context"
	"fmt"
	"sync"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apiserver/pkg/admission"
	"k8s.io/apiserver/pkg/admission/plugin/resourcequota"
	"k8s.io/apiserver/pkg/quota/v1/generic"
	"k8s.io/client-go/informers"
	coreclient "k8s.io/client-go/kubernetes/typed/core/v1"
	"k8s.io/kubernetes/pkg/quota/v1/install"

	"ipamsim/sim/kube/early"
)

// quotas is ResourceQuota: upstream's evaluator over the stored quotas. It is created, with
// its workers, for the first object in a namespace with a quota.
//
// Source: apiserver, pkg/admission/plugin/resourcequota, QuotaAdmission (v0.37.2).
type quotas struct {
	s         *Server
	evaluator func() (resourcequota.Evaluator, error)
}

func newQuotas(s *Server) quotas {
	return quotas{s: s, evaluator: sync.OnceValues(func() (resourcequota.Evaluator, error) {
		client, err := coreclient.NewForConfig(Config(s.Direct()))
		if err != nil {
			return nil, fmt.Errorf("kube: quotas: %w", err)
		}
		defer early.QuietQueues()()
		c, err := install.NewQuotaConfigurationForAdmission(informers.NewSharedInformerFactory(nil, 0), nil)
		if err != nil {
			return nil, err
		}
		const workers = 5 // the number that QuotaAdmission registers
		return resourcequota.NewQuotaEvaluator(quotaAccess{s, client}, c.IgnoredResources(), generic.NewRegistry(c.Evaluators()), nil, nil, workers, s.ctx.Done()), nil
	})}
}

func (quotas) Handles(op admission.Operation) bool {
	return op == admission.Create || op == admission.Update
}

// Validate makes upstream's decision. Objects marked AsFound are already counted.
func (q quotas) Validate(ctx context.Context, a admission.Attributes, _ admission.ObjectInterfaces) error {
	if a.GetNamespace() == "" || a.GetKind().Kind == "Namespace" || a.GetSubresource() == "status" || isFound(ctx) {
		return nil // no quota counts a status, and most updates are of a status
	}
	if all, err := presentAll[*corev1.ResourceQuota](q.s, "resourcequotas", a.GetNamespace()); err != nil || len(all) == 0 {
		return err
	}
	e, err := q.evaluator()
	if err != nil {
		return err
	}
	return e.Evaluate(a)
}

// quotaAccess reads and writes quotas immediately. It implements resourcequota.QuotaAccessor.
type quotaAccess struct {
	s      *Server
	client *coreclient.CoreV1Client
}

func (q quotaAccess) UpdateQuotaStatus(x *corev1.ResourceQuota) error {
	_, err := q.client.ResourceQuotas(x.Namespace).UpdateStatus(context.Background(), x, metav1.UpdateOptions{})
	return err
}

func (q quotaAccess) GetQuotas(namespace string) (out []corev1.ResourceQuota, err error) {
	all, err := presentAll[*corev1.ResourceQuota](q.s, "resourcequotas", namespace)
	for _, x := range all {
		out = append(out, *x.DeepCopy())
	}
	return out, err
}
