package calico

import (
	"context"
	"fmt"
	"net/netip"
	"slices"
	"strings"
	"testing"
	_ "unsafe" // for linkname

	apiv3 "github.com/projectcalico/api/pkg/apis/projectcalico/v3"
	"github.com/projectcalico/calico/kube-controllers/pkg/controllers/node"
	bapi "github.com/projectcalico/calico/libcalico-go/lib/backend/api"
	bmodel "github.com/projectcalico/calico/libcalico-go/lib/backend/model"
	calicoipam "github.com/projectcalico/calico/libcalico-go/lib/ipam"
	"github.com/projectcalico/calico/libcalico-go/lib/options"
	"github.com/prometheus/client_golang/prometheus"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"

	"ipamsim/model"
	"ipamsim/model/metric"
	"ipamsim/sim/ipam/calico/record"
	"ipamsim/sim/ipam/calico/store"
)

//go:linkname updateMetrics github.com/projectcalico/calico/kube-controllers/pkg/controllers/node.(*IPAMController).updateMetrics
func updateMetrics(*node.IPAMController)

// Upstream's gauges by pool are globals of the process; other tests' controllers
// leave theirs behind.
var (
	//go:linkname blocksGauges github.com/projectcalico/calico/kube-controllers/pkg/controllers/node.blocksGauges
	blocksGauges map[string]*prometheus.GaugeVec
	//go:linkname inUseGauges github.com/projectcalico/calico/kube-controllers/pkg/controllers/node.inUseAllocationGauges
	inUseGauges map[string]*prometheus.GaugeVec
	//go:linkname borrowedGauges github.com/projectcalico/calico/kube-controllers/pkg/controllers/node.borrowedAllocationGauges
	borrowedGauges map[string]*prometheus.GaugeVec
	//go:linkname candidateGauges github.com/projectcalico/calico/kube-controllers/pkg/controllers/node.gcCandidateGauges
	candidateGauges map[string]*prometheus.GaugeVec
)

// gauges is a story whose metrics are computed twice: by the registry of Calico's own controller,
// and from the record and the truth.
type gauges struct {
	*books
	m     *passMemory
	known map[string]bool // pools
	truth model.Truth
}

// scrape passes the stored objects to the controller, runs one scan, and exports the metrics.
func (g *gauges) scrape() []string {
	g.t.Helper()
	ctx := context.Background()
	g.must(g.m.prepare(ctx, gcClients{calico: g.c, kube: g.kube.(*kubernetes.Clientset)}))
	g.must(g.m.learnKubernetes(ctx, g.kube))
	pools, err := g.c.IPPools().List(ctx, options.ListOptions{})
	g.must(err)
	now := map[string]bool{}
	for i := range pools.Items {
		p := &pools.Items[i]
		now[p.Name] = true
		handleUpdate(g.m.controller, bmodel.KVPair{Key: bmodel.ResourceKey{Kind: apiv3.KindIPPool, Name: p.Name}, Value: p})
	}
	for name := range g.known {
		if !now[name] {
			handleUpdate(g.m.controller, bmodel.KVPair{Key: bmodel.ResourceKey{Kind: apiv3.KindIPPool, Name: name}})
		}
	}
	g.known = now
	g.must(g.m.learnCalico(ctx, store.Backend(g.c)))
	handleUpdate(g.m.controller, bapi.InSync)
	fullScanNextSync(g.m.controller, passName)
	g.must(syncIPAM(g.m.controller))
	updateMetrics(g.m.controller)
	families, err := prometheus.DefaultGatherer.Gather()
	g.must(err)
	var out []string
	for _, f := range families {
		for _, m := range f.GetMetric() {
			p := metric.Point{Name: f.GetName(), Value: m.GetGauge().GetValue()}
			for _, l := range m.GetLabel() {
				p.Labels = append(p.Labels, metric.Label{Name: l.GetName(), Value: l.GetValue()})
			}
			out = append(out, fmt.Sprintf("%s %g", p.Key(), p.Value))
		}
	}
	return exported(out)
}

// sample are the metrics in a report at the same instant.
func (g *gauges) sample() []string {
	s := g.observe()
	var out []string
	for _, p := range metric.Sample(metric.View{Truth: g.truth, Record: s, Networks: s.Networks}) {
		out = append(out, fmt.Sprintf("%s %g", p.Key(), p.Value))
	}
	return exported(out)
}

// exported are the metrics with Calico's own names.
func exported(all []string) []string {
	all = slices.DeleteFunc(all, func(s string) bool {
		return !strings.HasPrefix(s, "ipam_") || strings.HasPrefix(s, "ipam_allocations_gc_reclamations")
	})
	slices.Sort(all)
	return all
}

func (g *gauges) compare(when string) {
	g.t.Helper()
	same(g.t.(*testing.T), when, strings.Join(g.sample(), "\n"), strings.Join(g.scrape(), "\n"))
}

func (g *gauges) machine(name string) {
	g.t.Helper()
	g.node(name, nil)
	g.truth.Nodes[name] = model.Node{Up: true, Registered: true}
}

// run is a pod that was given an address and reports it.
func (g *gauges) run(nodeName, name string) {
	g.t.Helper()
	a, err := g.add(nodeName, name)
	g.must(err)
	pods := g.kube.CoreV1().Pods("default")
	p, err := pods.Create(context.Background(), &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: "default"},
		Spec:       corev1.PodSpec{NodeName: nodeName, Containers: []corev1.Container{{Name: "c", Image: "i"}}},
	}, metav1.CreateOptions{})
	g.must(err)
	p.Status = corev1.PodStatus{Phase: corev1.PodRunning, PodIP: a.String(), PodIPs: []corev1.PodIP{{IP: a.String()}}}
	_, err = pods.UpdateStatus(context.Background(), p, metav1.UpdateOptions{})
	g.must(err)
	ref := model.PodRef{Namespace: "default", Name: name}
	g.truth.Pods[ref] = model.Pod{UID: name, Node: nodeName, Phase: "Running"}
	g.truth.Sandboxes = append(g.truth.Sandboxes, model.Sandbox{
		ID: "c-" + name, Pod: ref, UID: name, Node: nodeName, Attachments: []model.Attachment{{Network: record.NetworkKey, Addrs: []netip.Addr{a}}},
	})
}

// forget deletes a pod and its sandbox, but no CNI DEL ever runs.
func (g *gauges) forget(name string) {
	g.t.Helper()
	now := int64(0)
	g.must(g.kube.CoreV1().Pods("default").Delete(context.Background(), name, metav1.DeleteOptions{GracePeriodSeconds: &now}))
	delete(g.truth.Pods, model.PodRef{Namespace: "default", Name: name})
	g.truth.Sandboxes = slices.DeleteFunc(g.truth.Sandboxes, func(s model.Sandbox) bool { return s.Pod.Name == name })
}

// TestMetricsAgreeWithUpstream: every metric with one of Calico's names has the value that
// kube-controllers exports, series by series, including missing series, with one exception that is
// an error of upstream. When the last block outside of every pool is deleted, its poolManager
// forgets these blocks (onBlockDeleted), so updateMetrics never updates their gauges again: they
// keep their last values until the process ends.
func TestMetricsAgreeWithUpstream(t *testing.T) {
	open(t, startEtcd(t), store.Kubernetes, func(b *books) {
		g := &gauges{books: b, m: &passMemory{}, truth: model.Truth{Pods: map[model.PodRef]model.Pod{}, Nodes: map[string]model.Node{}}}
		ctx := context.Background()
		for _, by := range []map[string]*prometheus.GaugeVec{blocksGauges, inUseGauges, borrowedGauges, candidateGauges} {
			by["no_ippool"].Reset()
		}
		g.machine("kubestage1001")
		g.machine("kubestage1002")
		g.pool("staging", "10.64.75.0/29", 30)
		g.compare("before the first address")
		g.run("kubestage1001", "web-0")
		g.run("kubestage1002", "web-1")
		g.compare("a block each")
		g.machine("kubestage1003")
		g.run("kubestage1003", "web-2")
		g.compare("the third node borrows")
		handle := "vxlan-tunnel-addr-kubestage1001"
		_, _, err := g.c.IPAM().AutoAssign(ctx, calicoipam.AutoAssignArgs{
			Num4: 1, HandleID: &handle, Hostname: "kubestage1001", IntendedUse: apiv3.IPPoolAllowedUseTunnel,
			Attrs: map[string]string{"node": "kubestage1001", "type": "vxlanTunnelAddress"},
		})
		g.must(err)
		g.compare("a tunnel's address")
		g.forget("web-1")
		g.compare("an address leaks")
		g.must(g.c.IPAM().ReleaseHostAffinities(ctx, calicoipam.AffinityConfig{AffinityType: calicoipam.AffinityTypeHost, Host: "kubestage1002"}, false))
		g.compare("a block is nobody's")
		g.pool("second", "10.64.76.0/29", 30)
		g.compare("a second pool")
		_, err = g.c.IPPools().Delete(ctx, "staging", options.DeleteOptions{})
		g.must(err)
		g.compare("the first pool is gone, its blocks are not")
		for _, h := range []string{"k8s-pod-network.c-web-0", "k8s-pod-network.c-web-1", "k8s-pod-network.c-web-2", handle} {
			g.must(g.c.IPAM().ReleaseByHandle(ctx, h))
		}
		sample := g.sample()
		stale := slices.DeleteFunc(g.scrape(), func(l string) bool { return slices.Contains(sample, l) })
		same(t, "exported of blocks that are gone", strings.Join(stale, "\n"), `
ipam_allocations_borrowed{ippool="no_ippool",node="kubestage1001"} 2
ipam_allocations_borrowed{ippool="no_ippool",node="kubestage1002"} 1
ipam_allocations_borrowed{ippool="no_ippool",node="kubestage1003"} 1
ipam_allocations_gc_candidates{ippool="no_ippool",node="kubestage1002"} 1
ipam_allocations_in_use{ippool="no_ippool",node="kubestage1001"} 2
ipam_allocations_in_use{ippool="no_ippool",node="kubestage1002"} 1
ipam_allocations_in_use{ippool="no_ippool",node="kubestage1003"} 1
ipam_blocks{ippool="no_ippool",node="no_affinity"} 2`)
		for name := range g.known { // they are globals of the process
			handleUpdate(g.m.controller, bmodel.KVPair{Key: bmodel.ResourceKey{Kind: apiv3.KindIPPool, Name: name}})
		}
	})
}
