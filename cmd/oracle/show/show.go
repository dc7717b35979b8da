// Package show does findings of the library again on upstream's own programs alone.
package show

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/netip"
	"os"
	"slices"
	"strings"
	"time"

	"google.golang.org/grpc/grpclog"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"

	"ipamsim/cmd/managers"
	"ipamsim/cmd/oracle/upstream"
)

// shown is a finding of the library, done again on upstream's own programs, of which
// kube-apiserver with its etcd is always one: the same requests, and the same fault.
type shown struct {
	scenario string
	program  string         // the other one, that is built for it; "": there is none
	ranges   []netip.Prefix // of Services
	manager  string         // whose custom resources kube-apiserver has; "": there are none
	do       func(context.Context, *cluster) (shown bool, err error)
}

var allShown = []shown{
	{"found-services-second-family-leaks", "", prefixes("10.96.0.0/29", "fd00:10:96::/125"), "", secondFamilyLeaks},
	{"found-services-lost-reply-frees-address", "", prefixes("10.96.0.0/29", "fd00:10:96::/112"), "", lostReplyFreesAddress},
	{"found-nodeipam-released-twice", "kube-controller-manager", wide, "", releasedTwice},
	{"found-nodeipam-replaced-under-its-name", "kube-controller-manager", wide, "", replacedUnderItsName},
	{"found-nodeipam-range-leaks", "kube-controller-manager", wide, "", rangeLeaks},
	{"found-nodeipam-deposed-leader", "kube-controller-manager", wide, "", deposedLeader},
	{"found-metallb-second-family-at-restart", "metallb-controller", wide, "metallb", secondFamilyAtRestart},
}

// listensEverywhere reports whether a program of the finding does.
func (f *shown) listensEverywhere() bool { return f.manager == "metallb" }

// wide are ranges of Services that say nothing of a finding.
var wide = prefixes("10.96.0.0/24", "fd00:10:96::/112")

func prefixes(all ...string) (out []netip.Prefix) {
	for _, p := range all {
		out = append(out, netip.MustParsePrefix(p))
	}
	return out
}

// Show does one finding or "all" with a kube-apiserver, and says what came of it; ok is false if one was not seen.
func Show(ctx context.Context, scenario, apiserver string, out *os.File) (ok bool, err error) {
	grpclog.SetLoggerV2(grpclog.NewLoggerV2(io.Discard, io.Discard, io.Discard)) // that etcd is not there yet
	if os.Getenv(aloneVariable) != "" {
		if err := loopback(); err != nil {
			return false, err
		}
	}
	ok = true
	var names []string
	for _, f := range allShown {
		if names = append(names, f.scenario); scenario != "all" && scenario != f.scenario {
			continue
		}
		if f.program != "" { // here, where there is a network
			if _, err := upstream.Build(ctx, f.program, os.Stderr); err != nil {
				return false, err
			}
		}
		if f.listensEverywhere() && os.Getenv(aloneVariable) == "" {
			seen, err := inNetworkOfItsOwn(ctx, f.scenario, apiserver, out)
			if err != nil {
				return false, err
			}
			ok = ok && seen
			continue
		}
		seen, err := f.run(ctx, apiserver, out)
		if err != nil {
			return false, fmt.Errorf("%s: %w", f.scenario, err)
		}
		fmt.Fprintf(out, "  => %s\n", map[bool]string{true: "shown", false: "NOT shown"}[seen])
		ok = ok && seen
	}
	if scenario != "all" && !slices.Contains(names, scenario) {
		return false, fmt.Errorf("-show %s: want all or one of %s", scenario, strings.Join(names, ", "))
	}
	return ok, nil
}

// run is one finding on a server of its own.
func (f *shown) run(ctx context.Context, apiserver string, out io.Writer) (bool, error) {
	dir, err := os.MkdirTemp("", "ipamsim-oracle-")
	if err != nil {
		return false, err
	}
	defer os.RemoveAll(dir)
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	lose := &losing{}
	s, err := upstream.Serve(ctx, apiserver, dir, upstream.Setup{Ranges: f.ranges, Through: lose.listen})
	if s != nil && s.Process != nil {
		defer s.Stop()
	}
	if err != nil {
		return false, err
	}
	if f.manager != "" {
		crds, err := managers.All().Find(f.manager).Definitions()
		if err == nil {
			err = s.Define(ctx, crds)
		}
		if err != nil {
			return false, err
		}
	}
	on := "kube-apiserver 1.34.1"
	if f.program != "" {
		on += " and " + f.program + " " + upstream.Programs[f.program].Version
	}
	fmt.Fprintf(out, "%s, on %s, with Services in %s and %s\n", f.scenario, on, f.ranges[0], f.ranges[1])
	return f.do(ctx, &cluster{s, lose, dir, out})
}

// cluster is a server as a user sees it.
type cluster struct {
	*upstream.Server
	lose *losing
	dir  string // for what programs write
	out  io.Writer
}

// create asks for a Service and says what came of it: its addresses, or the refusal.
func (c *cluster) create(ctx context.Context, name string, spec corev1.ServiceSpec) (addrs []string, refusal string, err error) {
	spec.Ports = []corev1.ServicePort{{Port: 80}}
	body, err := json.Marshal(map[string]any{"apiVersion": "v1", "kind": "Service", "metadata": map[string]string{"name": name}, "spec": spec})
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

func (c *cluster) get(ctx context.Context, uri string, into any) error {
	resp, answer, err := c.Send(ctx, http.MethodGet, uri, "", "application/json", nil)
	if err == nil && resp.StatusCode != http.StatusOK {
		err = fmt.Errorf("GET %s: %s", uri, resp.Status)
	}
	if err != nil {
		return err
	}
	return json.Unmarshal(answer, into)
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
