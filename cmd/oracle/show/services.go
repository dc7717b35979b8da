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

// create asks for a Service and says what came of it: its addresses, or the refusal.
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

const (
	services  = "/api/v1/namespaces/default/services"
	addresses = "/apis/networking.k8s.io/v1/ipaddresses"
)

// claims are the IPAddresses, by whose they are.
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

// allocating waits until the default ranges are there to allocate from.
func (c *cluster) allocating(ctx context.Context) error {
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

// secondFamilyLeaks: with all addresses of IPv6 taken, a Service of both families is refused
// again and again. A refused one has an address of IPv4 where that family came first.
func secondFamilyLeaks(ctx context.Context, c *cluster) (bool, error) {
	if err := c.allocating(ctx); err != nil {
		return false, err
	}
	for i := range 20 {
		addrs, _, err := c.create(ctx, fmt.Sprintf("six-%d", i+1), corev1.ServiceSpec{IPFamilies: []corev1.IPFamily{corev1.IPv6Protocol}})
		if err != nil {
			return false, err
		}
		if len(addrs) == 0 {
			break
		}
	}
	both := corev1.IPFamilyPolicyRequireDualStack
	for range 12 {
		if _, _, err := c.create(ctx, "web", corev1.ServiceSpec{IPFamilyPolicy: &both}); err != nil {
			return false, err
		}
	}
	all, err := c.claims(ctx)
	if err != nil {
		return false, err
	}
	var leaked []string
	for addr, of := range all {
		if of == "web" {
			leaked = append(leaked, addr)
		}
	}
	slices.Sort(leaked)
	fmt.Fprintf(c.out, "  GET ipaddresses: of services/web, which does not exist: %s\n", strings.Join(leaked, ", "))
	_, refusal, err := c.create(ctx, "db", corev1.ServiceSpec{})
	return len(leaked) > 0 && refusal != "", err
}

// lostReplyFreesAddress: etcd writes the Service, and its answer is a timeout. The address
// is freed, and goes to one of the next Services.
func lostReplyFreesAddress(ctx context.Context, c *cluster) (bool, error) {
	if err := c.allocating(ctx); err != nil {
		return false, err
	}
	c.lose.next("/registry/services/specs/default/web")
	if _, refusal, err := c.create(ctx, "web", corev1.ServiceSpec{}); err != nil || refusal == "" || c.lose.lost != 1 {
		return false, errors.Join(err, fmt.Errorf("the answer to the write of web was not lost (%d)", c.lose.lost))
	}
	var web corev1.Service
	if err := c.get(ctx, services+"/web", &web); err != nil {
		return false, err
	}
	all, err := c.claims(ctx)
	if err != nil {
		return false, err
	}
	addr := web.Spec.ClusterIP
	fmt.Fprintf(c.out, "  GET services/web: it is there, with %s; GET ipaddresses/%s: %s\n", addr, addr, map[bool]string{true: "there", false: "not found"}[all[addr] != ""])
	for _, name := range []string{"a", "b", "c", "d", "e", "f"} {
		addrs, _, err := c.create(ctx, name, corev1.ServiceSpec{})
		if err != nil {
			return false, err
		}
		if slices.Contains(addrs, addr) {
			fmt.Fprintf(c.out, "  services/web and services/%s both have %s\n", name, addr)
			return true, nil
		}
	}
	return false, nil
}
