package kube

import (
	"context"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apiserver/pkg/admission"
	"k8s.io/client-go/informers/core"
	informersv1 "k8s.io/client-go/informers/core/v1"
	listers "k8s.io/client-go/listers/core/v1"
	"k8s.io/client-go/tools/cache"
	"k8s.io/kubernetes/plugin/pkg/admission/limitranger"
)

// limits is LimitRanger for namespaces with a LimitRange. Without one LimitRanger has no
// effect, but would check with the server whether its cache lags, which it does not.
type limits struct {
	*limitranger.LimitRanger
	s *Server
}

func newLimits(s *Server) limits {
	l, err := limitranger.NewLimitRanger(nil)
	if err != nil {
		panic(err) // it returns no error
	}
	l.SetExternalKubeInformerFactory(present{s: s})
	return limits{l, s}
}

// none reports whether no limit applies. Objects marked AsFound were limited when they were
// created.
func (l limits) none(ctx context.Context, a admission.Attributes) (bool, error) {
	if !(&limitranger.DefaultLimitRangerActions{}).SupportsAttributes(a) || isFound(ctx) {
		return true, nil
	}
	all, err := presentAll[*corev1.LimitRange](l.s, "limitranges", a.GetNamespace())
	return len(all) == 0, err
}

func (l limits) Admit(ctx context.Context, a admission.Attributes, o admission.ObjectInterfaces) error {
	if none, err := l.none(ctx, a); none || err != nil {
		return err
	}
	return l.LimitRanger.Admit(ctx, a, o)
}

func (l limits) Validate(ctx context.Context, a admission.Attributes, o admission.ObjectInterfaces) error {
	if none, err := l.none(ctx, a); none || err != nil {
		return err
	}
	return l.LimitRanger.Validate(ctx, a, o)
}

func (p present) Core() core.Interface { return presentCore{s: p.s} }

type presentCore struct {
	core.Interface
	s *Server
}

func (p presentCore) V1() informersv1.Interface { return presentCoreVersion{s: p.s} }

type presentCoreVersion struct {
	informersv1.Interface
	s *Server
}

func (p presentCoreVersion) LimitRanges() informersv1.TypedLimitRangeInformer {
	return presentLimits{s: p.s}
}

type presentLimits struct {
	cache.SharedIndexInformer
	s *Server
}

func (p presentLimits) TypedInformer() informersv1.LimitRangeIndexInformer { return nil }

func (p presentLimits) Informer() cache.SharedIndexInformer { return p }

func (p presentLimits) Lister() listers.LimitRangeLister { return limitsLister{s: p.s} }

func (presentLimits) HasSynced() bool { return true }

type limitsLister struct {
	listers.LimitRangeListerExpansion
	s *Server
}

func (l limitsLister) LimitRanges(namespace string) listers.LimitRangeNamespaceLister {
	return limitsIn{s: l.s, namespace: namespace}
}

func (l limitsLister) List(labels.Selector) ([]*corev1.LimitRange, error) {
	return presentAll[*corev1.LimitRange](l.s, "limitranges", "")
}

type limitsIn struct {
	listers.LimitRangeNamespaceListerExpansion
	s         *Server
	namespace string
}

func (l limitsIn) Get(name string) (*corev1.LimitRange, error) {
	return presentOne[*corev1.LimitRange](l.s, corev1.Resource("limitranges"), l.namespace+"/"+name)
}

func (l limitsIn) List(labels.Selector) ([]*corev1.LimitRange, error) {
	return presentAll[*corev1.LimitRange](l.s, "limitranges", l.namespace)
}
