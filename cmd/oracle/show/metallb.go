package show

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"

	"ipamsim/cmd/oracle/upstream"
)

// balanced is a cluster whose load balancers MetalLB's controller gives addresses.
type balanced struct {
	*cluster
	controller *upstream.Process
}

const metallbSystem = "metallb-system"

// balance makes MetalLB's namespace, the pod that its controller takes itself to be in, and
// a pool, and starts the controller.
func balance(ctx context.Context, c *cluster, addresses ...string) (*balanced, error) {
	meta := object{"namespace": metallbSystem, "name": "controller"}
	pool := "/apis/metallb.io/v1beta1/namespaces/" + metallbSystem + "/ipaddresspools"
	for _, o := range []struct {
		uri, name string
		body      object
	}{
		{"/api/v1/namespaces", metallbSystem, object{"apiVersion": "v1", "kind": "Namespace", "metadata": object{"name": metallbSystem}}},
		{"/api/v1/namespaces/" + metallbSystem + "/pods", "controller", object{
			"apiVersion": "v1", "kind": "Pod", "metadata": meta, "spec": object{"schedulerName": "none", "containers": []object{{"name": "controller", "image": "controller"}}},
		}},
		{pool, "external", object{
			"apiVersion": "metallb.io/v1beta1", "kind": "IPAddressPool", "metadata": object{"namespace": metallbSystem, "name": "external"}, "spec": object{"addresses": addresses},
		}},
	} {
		if err := c.write(ctx, http.MethodPost, o.uri, o.name, o.body); err != nil {
			return nil, err
		}
	}
	b := &balanced{cluster: c}
	return b, b.start(ctx)
}

// start starts the controller, as its manifest does, without webhooks and their certificates.
func (b *balanced) start(ctx context.Context) error {
	file := filepath.Join(b.dir, "kubeconfig")
	err := os.WriteFile(file, b.Kubeconfig(b.URL, b.Certificate), 0o600)
	if err == nil {
		b.controller, err = upstream.Start(ctx, "metallb-controller", b.binary, b.dir,
			[]string{"KUBECONFIG=" + file, "METALLB_NAMESPACE=" + metallbSystem, "METALLB_POD_NAME=controller", "METALLB_DEPLOYMENT=controller"},
			"--webhook-mode=disabled", "--disable-cert-rotation=true")
	}
	return err
}

// ask makes a Service of type LoadBalancer, and waits for its addresses.
func (b *balanced) ask(ctx context.Context, name string, policy *corev1.IPFamilyPolicy) error {
	if _, refusal, err := b.create(ctx, name, corev1.ServiceSpec{Type: corev1.ServiceTypeLoadBalancer, IPFamilyPolicy: policy}); err != nil || refusal != "" {
		return fmt.Errorf("services/%s: %s %w", name, refusal, err)
	}
	var addrs []string
	has, err := within(ctx, patienceMax, func(ctx context.Context) (_ bool, err error) {
		addrs, err = b.external(ctx, name)
		return len(addrs) > 0, err
	})
	if err != nil {
		return err
	}
	if !has {
		return fmt.Errorf("services/%s has no address: %s", name, b.controller.Said())
	}
	fmt.Fprintf(b.out, "  GET services/%s: load balancer %s\n", name, strings.Join(addrs, " and "))
	return nil
}

// external are a Service's addresses of the load balancer.
func (b *balanced) external(ctx context.Context, name string) (addrs []string, err error) {
	var s corev1.Service
	err = b.get(ctx, services+"/"+name, &s)
	for _, in := range s.Status.LoadBalancer.Ingress {
		addrs = append(addrs, in.IP)
	}
	return addrs, err
}

// restartsMax: the order in which the controller looks at Services that have as many
// addresses is nobody's choice.
const restartsMax = 20

// secondFamilyAtRestart: api waits for an address of IPv4, since a and z have all. The
// controller is ended and started again, and api has that of z.
func secondFamilyAtRestart(ctx context.Context, c *cluster) (bool, error) {
	b, err := balance(ctx, c, "10.9.0.0/31", "fd00:9::/126")
	if err != nil {
		return false, err
	}
	for _, name := range []string{"a", "z"} {
		if err := b.ask(ctx, name, nil); err != nil {
			return false, err
		}
	}
	both := corev1.IPFamilyPolicyPreferDualStack
	if err := b.ask(ctx, "api", &both); err != nil {
		return false, err
	}
	before := map[string][]string{}
	for _, name := range []string{"a", "z"} {
		if before[name], err = b.external(ctx, name); err != nil {
			return false, err
		}
	}
	for n := range restartsMax {
		b.controller.Kill()
		if err := b.start(ctx); err != nil {
			return false, err
		}
		from, addr, err := b.taken(ctx, before)
		if err != nil {
			return false, err
		}
		if from == "" {
			continue
		}
		fmt.Fprintf(c.out, "  metallb-controller: killed and started again (%d)\n  GET services/api: it has %s, too, which services/%s had\n", n+1, addr, from)
		time.Sleep(2 * time.Second)
		now, err := b.external(ctx, from)
		fmt.Fprintf(c.out, "  GET services/%s: load balancer %v\n", from, now)
		return !slices.Contains(now, addr), err
	}
	return false, nil
}

// taken waits until the controller has looked at all Services, and returns whose address api
// has then.
func (b *balanced) taken(ctx context.Context, before map[string][]string) (from, addr string, err error) {
	_, err = within(ctx, 5*time.Second, func(ctx context.Context) (bool, error) {
		now, err := b.external(ctx, "api")
		for name, had := range before {
			if slices.Contains(now, had[0]) {
				from, addr = name, had[0]
			}
		}
		return from != "", err
	})
	return from, addr, err
}
