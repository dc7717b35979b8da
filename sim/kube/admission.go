package kube

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apiserver/pkg/admission"
	utilfeature "k8s.io/apiserver/pkg/util/feature"
	"k8s.io/client-go/kubernetes"
	"k8s.io/kubernetes/plugin/pkg/admission/defaulttolerationseconds"
	"k8s.io/kubernetes/plugin/pkg/admission/nodetaint"
	"k8s.io/kubernetes/plugin/pkg/admission/priority"
)

// newAdmission returns the plugins of kube-apiserver's default admission that affect
// controllers, in its order. Our implementations read the objects that are stored now.
func newAdmission(s *Server) admission.Interface {
	tolerations := defaulttolerationseconds.NewDefaultTolerationSeconds()
	tolerations.InspectFeatureGates(utilfeature.DefaultFeatureGate)
	priorities := priority.NewPlugin()
	priorities.SetExternalKubeClientSet(kubernetes.Interface(nil)) // never used
	priorities.SetExternalKubeInformerFactory(present{s: s})
	return admission.NewChainHandler(lifecycle{s}, newLimits(s), newNodes{nodetaint.NewPlugin()}, priorities, tolerations, newQuotas(s))
}

// admission is the admission of resource handlers. Handlers outlive runs; it delegates to the
// run of the request.
func (b *backend) admission() admission.Interface {
	if b.controlled {
		return ofRun{}
	}
	return nil
}

type admissionKey struct{}

// ofRun returns the admission of the run that a request belongs to.
type ofRun struct{}

func (ofRun) Handles(admission.Operation) bool { return true }

func (ofRun) Admit(ctx context.Context, a admission.Attributes, o admission.ObjectInterfaces) error {
	m, ok := ctx.Value(admissionKey{}).(admission.MutationInterface)
	if !ok || !m.Handles(a.GetOperation()) {
		return nil
	}
	return m.Admit(ctx, a, o)
}

func (ofRun) Validate(ctx context.Context, a admission.Attributes, o admission.ObjectInterfaces) error {
	v, ok := ctx.Value(admissionKey{}).(admission.ValidationInterface)
	if !ok || !v.Handles(a.GetOperation()) {
		return nil
	}
	return v.Validate(ctx, a, o)
}

type foundKey struct{}

// AsFound marks objects created under ctx as old: a Node does not get the taints of a new
// node, and limits and quotas do not apply.
func AsFound(ctx context.Context) context.Context { return context.WithValue(ctx, foundKey{}, true) }

func isFound(ctx context.Context) bool {
	found, _ := ctx.Value(foundKey{}).(bool)
	return found
}

// newNodes is TaintNodesByCondition for new nodes.
type newNodes struct{ *nodetaint.Plugin }

func (p newNodes) Admit(ctx context.Context, a admission.Attributes, o admission.ObjectInterfaces) error {
	if isFound(ctx) {
		return nil
	}
	return p.Plugin.Admit(ctx, a, o)
}

// lifecycle repeats the decisions of NamespaceLifecycle. The real plugin waits 50 ms for its
// cache before it reports a missing namespace; an object that is stored before the run starts
// must not wait.
//
// Source: apiserver, pkg/admission/plugin/namespace/lifecycle, Lifecycle.Admit (v0.37.2).
type lifecycle struct{ s *Server }

// immortal namespaces are never deleted.
var immortal = map[string]bool{metav1.NamespaceDefault: true, metav1.NamespaceSystem: true, metav1.NamespacePublic: true}

func (lifecycle) Handles(op admission.Operation) bool { return op != admission.Connect }

func (l lifecycle) Admit(_ context.Context, a admission.Attributes, _ admission.ObjectInterfaces) error {
	if a.GetKind().GroupKind() == corev1.SchemeGroupVersion.WithKind("Namespace").GroupKind() {
		if a.GetOperation() == admission.Delete && immortal[a.GetName()] {
			return apierrors.NewForbidden(a.GetResource().GroupResource(), a.GetName(), fmt.Errorf("this namespace may not be deleted"))
		}
		return nil
	}
	if a.GetNamespace() == "" || a.GetOperation() != admission.Create {
		return nil
	}
	ns, err := presentOne[*corev1.Namespace](l.s, corev1.Resource("namespaces"), a.GetNamespace())
	if err != nil || ns.Status.Phase != corev1.NamespaceTerminating {
		return err
	}
	err = admission.NewForbidden(a, fmt.Errorf("unable to create new content in namespace %s because it is being terminated", a.GetNamespace()))
	if e, ok := err.(*apierrors.StatusError); ok {
		e.ErrStatus.Details.Causes = append(e.ErrStatus.Details.Causes, metav1.StatusCause{
			Type: corev1.NamespaceTerminatingCause, Message: fmt.Sprintf("namespace %s is being terminated", a.GetNamespace()), Field: "metadata.namespace",
		})
	}
	return err
}
