package whereabouts

import (
	"net/http"

	nadclient "github.com/k8snetworkplumbingwg/network-attachment-definition-client/pkg/client/clientset/versioned"
	nadv1client "github.com/k8snetworkplumbingwg/network-attachment-definition-client/pkg/client/clientset/versioned/typed/k8s.cni.cncf.io/v1"
	wbclient "github.com/k8snetworkplumbingwg/whereabouts/pkg/generated/clientset/versioned"
	wbv1client "github.com/k8snetworkplumbingwg/whereabouts/pkg/generated/clientset/versioned/typed/whereabouts.cni.cncf.io/v1alpha1"
	"k8s.io/client-go/kubernetes"
	coordinationclient "k8s.io/client-go/kubernetes/typed/coordination/v1"
	coreclient "k8s.io/client-go/kubernetes/typed/core/v1"
	"k8s.io/client-go/rest"

	"ipamsim/sim/kube"
)

// dialer builds the typed clients of one process over its door: the real ones,
// group by group, because a whole clientset of 50 groups costs more than an ADD.
//
// Upstream sets no rate limit, and client-go then gives every group its own of 5
// requests a second, burst 10.
//
// Source: pkg/storage/kubernetes/client.go, newClient (v0.9.4); client-go/rest,
// RESTClientForConfigAndClient.
type dialer struct {
	config *rest.Config
	http   *http.Client
	err    error
}

func dial(rt http.RoundTripper) *dialer {
	d := &dialer{config: kube.Config(rt)}
	d.config.QPS, d.config.Burst = 0, 0
	d.http, d.err = rest.HTTPClientFor(d.config)
	return d
}

// group builds the client of one API group, unless something failed before.
func group[T any](d *dialer, build func(*rest.Config, *http.Client) (*T, error)) *T {
	if d.err != nil {
		return nil
	}
	c, err := build(d.config, d.http)
	d.err = err
	return c
}

func (d *dialer) core() *coreclient.CoreV1Client { return group(d, coreclient.NewForConfigAndClient) }

func (d *dialer) leases() *coordinationclient.CoordinationV1Client {
	return group(d, coordinationclient.NewForConfigAndClient)
}

func (d *dialer) whereabouts() *wbv1client.WhereaboutsV1alpha1Client {
	return group(d, wbv1client.NewForConfigAndClient)
}

func (d *dialer) networks() *nadv1client.K8sCniCncfIoV1Client {
	return group(d, func(c *rest.Config, _ *http.Client) (*nadv1client.K8sCniCncfIoV1Client, error) {
		return nadv1client.NewForConfig(c) // generated before there was another
	})
}

// The clientsets below hold the groups that upstream uses; asking for another one
// is a nil dereference, which the tests would show.

type kubeSet struct {
	kubernetes.Interface
	core   coreclient.CoreV1Interface
	leases coordinationclient.CoordinationV1Interface
}

func (s kubeSet) CoreV1() coreclient.CoreV1Interface                         { return s.core }
func (s kubeSet) CoordinationV1() coordinationclient.CoordinationV1Interface { return s.leases }

type whereaboutsSet struct {
	wbclient.Interface
	v1alpha1 wbv1client.WhereaboutsV1alpha1Interface
}

func (s whereaboutsSet) WhereaboutsV1alpha1() wbv1client.WhereaboutsV1alpha1Interface {
	return s.v1alpha1
}

type networkSet struct {
	nadclient.Interface
	v1 nadv1client.K8sCniCncfIoV1Interface
}

func (s networkSet) K8sCniCncfIoV1() nadv1client.K8sCniCncfIoV1Interface { return s.v1 }
