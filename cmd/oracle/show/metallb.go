package show

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"

	"ipamsim/cmd/oracle/upstream"
)

const metallbSystem = "metallb-system"

// secondFamilyAtRestart: api waits for an address of IPv4, since a and z have all. The
// controller is ended and started again, and api has that of z.
var secondFamilyAtRestart = []step{
	balance("10.9.0.0/31", "fd00:9::/126"), startMetalLB,
	balancer("a", nil), balancer("z", nil), balancer("api", new(corev1.IPFamilyPolicyPreferDualStack)),
	restartUntilTaken,
}

// balance makes MetalLB's namespace, the pod that its controller takes itself to be in, and
// a pool.
func balance(addresses ...string) step {
	meta := object{"namespace": metallbSystem, "name": "controller"}
	pool := "/apis/metallb.io/v1beta1/namespaces/" + metallbSystem + "/ipaddresspools"
	return all(
		post("/api/v1/namespaces", metallbSystem, object{"apiVersion": "v1", "kind": "Namespace", "metadata": object{"name": metallbSystem}}),
		post("/api/v1/namespaces/"+metallbSystem+"/pods", "controller", object{
			"apiVersion": "v1", "kind": "Pod", "metadata": meta, "spec": object{"schedulerName": "none", "containers": []object{{"name": "controller", "image": "controller"}}},
		}),
		post(pool, "external", object{
			"apiVersion": "metallb.io/v1beta1", "kind": "IPAddressPool", "metadata": object{"namespace": metallbSystem, "name": "external"}, "spec": object{"addresses": addresses},
		}),
	)
}

// startMetalLB starts the controller, as its manifest does, without webhooks and their
// certificates.
func startMetalLB(ctx context.Context, c *cluster) error {
	file := filepath.Join(c.dir, "kubeconfig")
	err := os.WriteFile(file, c.Kubeconfig(c.URL, c.Certificate), 0o600)
	if err == nil {
		c.program, err = upstream.Start(ctx, "metallb-controller", c.binary, c.dir,
			[]string{"KUBECONFIG=" + file, "METALLB_NAMESPACE=" + metallbSystem, "METALLB_POD_NAME=controller", "METALLB_DEPLOYMENT=controller"},
			"--webhook-mode=disabled", "--disable-cert-rotation=true")
	}
	return err
}

// balancer makes a Service of type LoadBalancer, and waits for its addresses.
func balancer(name string, policy *corev1.IPFamilyPolicy) step {
	return func(ctx context.Context, c *cluster) error {
		if _, refusal, err := c.create(ctx, name, corev1.ServiceSpec{Type: corev1.ServiceTypeLoadBalancer, IPFamilyPolicy: policy}); err != nil || refusal != "" {
			return fmt.Errorf("services/%s: %s %w", name, refusal, err)
		}
		var addrs []string
		has, err := within(ctx, patienceMax, func(ctx context.Context) (_ bool, err error) {
			addrs, err = c.external(ctx, name)
			return len(addrs) > 0, err
		})
		if err != nil {
			return err
		}
		if !has {
			return fmt.Errorf("services/%s has no address: %s", name, c.program.Said())
		}
		fmt.Fprintf(c.out, "  GET services/%s: load balancer %s\n", name, strings.Join(addrs, " and "))
		return nil
	}
}

// external are a Service's addresses of the load balancer.
func (c *cluster) external(ctx context.Context, name string) (addrs []string, err error) {
	var s corev1.Service
	err = c.get(ctx, services+"/"+name, &s)
	for _, in := range s.Status.LoadBalancer.Ingress {
		addrs = append(addrs, in.IP)
	}
	return addrs, err
}

// restartsMax: the order in which the controller handles Services that have as many
// addresses is not determined.
const restartsMax = 20

// restartUntilTaken restarts the controller until api has the address of a or of z, which
// shows the finding if that Service has lost it.
func restartUntilTaken(ctx context.Context, c *cluster) error {
	before := map[string][]string{}
	for _, name := range []string{"a", "z"} {
		var err error
		if before[name], err = c.external(ctx, name); err != nil {
			return err
		}
	}
	for n := range restartsMax {
		c.program.Kill()
		if err := startMetalLB(ctx, c); err != nil {
			return err
		}
		from, addr, err := c.taken(ctx, before)
		if err != nil {
			return err
		}
		if from == "" {
			continue
		}
		fmt.Fprintf(c.out, "  metallb-controller: killed and started again (%d)\n  GET services/api: it has %s, too, which services/%s had\n", n+1, addr, from)
		time.Sleep(2 * time.Second)
		now, err := c.external(ctx, from)
		fmt.Fprintf(c.out, "  GET services/%s: load balancer %v\n", from, now)
		c.shown = !slices.Contains(now, addr)
		return err
	}
	return nil
}

// taken waits until the controller has handled all Services, and returns the Service whose
// address api has then.
func (c *cluster) taken(ctx context.Context, before map[string][]string) (from, addr string, err error) {
	_, err = within(ctx, 5*time.Second, func(ctx context.Context) (bool, error) {
		now, err := c.external(ctx, "api")
		for name, had := range before {
			if slices.Contains(now, had[0]) {
				from, addr = name, had[0]
			}
		}
		return from != "", err
	})
	return from, addr, err
}
