package show

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
)

const (
	services  = "/api/v1/namespaces/default/services"
	addresses = "/apis/networking.k8s.io/v1/ipaddresses"
)

// secondFamilyLeaks: with all addresses of IPv6 taken, a Service of both families is refused
// again and again. A refused one has an address of IPv4 where that family came first.
var secondFamilyLeaks = []step{allocating, takeAllIPv6, refuseDualStack, leaks("web")}

// lostReplyFreesAddress: etcd writes the Service, and its answer is a timeout. The address
// is freed, and goes to one of the next Services.
var lostReplyFreesAddress = []step{allocating, loseReply("web"), takenBy("web", "a", "b", "c", "d", "e", "f")}

// allocating waits until the default ranges are there to allocate from.
func allocating(ctx context.Context, c *cluster) error {
	var refusal string
	for range 100 {
		addrs, why, err := c.create(ctx, "first", corev1.ServiceSpec{})
		if err != nil || len(addrs) > 0 {
			return err
		}
		refusal = why
		select {
		case <-time.After(200 * time.Millisecond):
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return errors.New("no Service could be made: " + refusal)
}

func takeAllIPv6(ctx context.Context, c *cluster) error {
	for i := range 20 {
		addrs, _, err := c.create(ctx, fmt.Sprintf("six-%d", i+1), corev1.ServiceSpec{IPFamilies: []corev1.IPFamily{corev1.IPv6Protocol}})
		if err != nil || len(addrs) == 0 {
			return err
		}
	}
	return nil
}

func refuseDualStack(ctx context.Context, c *cluster) error {
	both := corev1.IPFamilyPolicyRequireDualStack
	for range 12 {
		if _, _, err := c.create(ctx, "web", corev1.ServiceSpec{IPFamilyPolicy: &both}); err != nil {
			return err
		}
	}
	return nil
}

// leaks shows the finding if a Service that does not exist has addresses, and another one is
// refused.
func leaks(name string) step {
	return func(ctx context.Context, c *cluster) error {
		all, err := c.claims(ctx)
		if err != nil {
			return err
		}
		var leaked []string
		for addr, of := range all {
			if of == name {
				leaked = append(leaked, addr)
			}
		}
		slices.Sort(leaked)
		fmt.Fprintf(c.out, "  GET ipaddresses: of services/%s, which does not exist: %s\n", name, strings.Join(leaked, ", "))
		_, refusal, err := c.create(ctx, "db", corev1.ServiceSpec{})
		c.shown = len(leaked) > 0 && refusal != ""
		return err
	}
}

// loseReply creates a Service, and etcd's answer to its write is lost.
func loseReply(name string) step {
	return func(ctx context.Context, c *cluster) error {
		c.lose.next("/registry/services/specs/default/" + name)
		if _, refusal, err := c.create(ctx, name, corev1.ServiceSpec{}); err != nil || refusal == "" || c.lose.lost != 1 {
			return errors.Join(err, fmt.Errorf("the answer to the write of %s was not lost (%d)", name, c.lose.lost))
		}
		var s corev1.Service
		if err := c.get(ctx, services+"/"+name, &s); err != nil {
			return err
		}
		all, err := c.claims(ctx)
		if err != nil {
			return err
		}
		addr := s.Spec.ClusterIP
		fmt.Fprintf(c.out, "  GET services/%s: it is there, with %s; GET ipaddresses/%s: %s\n", name, addr, addr, map[bool]string{true: "there", false: "not found"}[all[addr] != ""])
		c.seen[name] = addr
		return nil
	}
}

// takenBy creates others until one has the address of a Service, which shows the finding.
func takenBy(name string, others ...string) step {
	return func(ctx context.Context, c *cluster) error {
		for _, other := range others {
			addrs, _, err := c.create(ctx, other, corev1.ServiceSpec{})
			if err != nil {
				return err
			}
			if c.shown = slices.Contains(addrs, c.seen[name]); c.shown {
				fmt.Fprintf(c.out, "  services/%s and services/%s both have %s\n", name, other, c.seen[name])
				return nil
			}
		}
		return nil
	}
}

// create asks for a Service and prints the answer: its addresses, or the refusal.
func (c *cluster) create(ctx context.Context, name string, spec corev1.ServiceSpec) (addrs []string, refusal string, err error) {
	spec.Ports = []corev1.ServicePort{{Port: 80}}
	body, err := json.Marshal(object{"apiVersion": "v1", "kind": "Service", "metadata": object{"name": name}, "spec": spec})
	if err != nil {
		return nil, "", err
	}
	resp, answer, err := c.Send(ctx, http.MethodPost, services, "application/json", "application/json", body)
	if err != nil {
		return nil, "", err
	}
	if resp.StatusCode != http.StatusCreated {
		var status struct{ Message string }
		_ = json.Unmarshal(answer, &status)
		fmt.Fprintf(c.out, "  POST services/%s: %d %s\n", name, resp.StatusCode, status.Message)
		return nil, status.Message, nil
	}
	var made corev1.Service
	if err := json.Unmarshal(answer, &made); err != nil {
		return nil, "", err
	}
	fmt.Fprintf(c.out, "  POST services/%s: 201, %s\n", name, strings.Join(made.Spec.ClusterIPs, " and "))
	return made.Spec.ClusterIPs, "", nil
}

// claims are the IPAddresses, by the Services that they belong to.
func (c *cluster) claims(ctx context.Context) (map[string]string, error) {
	var list networkingv1.IPAddressList
	if err := c.get(ctx, addresses, &list); err != nil {
		return nil, err
	}
	out := map[string]string{}
	for _, a := range list.Items {
		out[a.Name] = a.Spec.ParentRef.Name
	}
	return out, nil
}
