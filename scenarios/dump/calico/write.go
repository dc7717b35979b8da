package calico

import (
	"crypto/sha3"
	"encoding/base32"
	"encoding/json"
	"fmt"
	"net/netip"
	"strings"

	"ipamsim/scenarios/dump/kept"
	"ipamsim/scenarios/dump/manifest"
)

func (d *record) selective() bool {
	for _, p := range d.pools {
		if p.NamespaceSelector != "" && p.NamespaceSelector != "all()" {
			return true
		}
	}
	return false
}

// writePools writes what Calico's clients read before they allocate.
func (d *record) writePools(w *manifest.Writer) {
	for _, name := range kept.Keys(d.pools) {
		w.Manifest(version, "IPPool", manifest.Named(name), "spec", d.pools[name])
	}
	for _, name := range kept.Keys(d.reserving) {
		w.Manifest(version, "IPReservation", manifest.Named(name), "spec", d.reserving[name])
	}
	if d.config != nil {
		w.Manifest(version, "IPAMConfig", manifest.Named("default"), "spec", d.config)
	}
}

func (d *record) writeSettings(w *manifest.Writer) {
	d.writePools(w)
	for _, name := range d.c.controllers.Keys() {
		w.Manifest(version, "KubeControllersConfiguration", manifest.Named(name),
			"spec", manifest.Object{"controllers": manifest.Object{"node": manifest.Object{"leakGracePeriod": d.c.controllers[name].Value}}})
	}
	if len(d.c.controllers) == 0 {
		w.Manifest(version, "KubeControllersConfiguration", manifest.Named("default"), "spec", defaultControllers)
	}
	if d.fam.V6 {
		yes := map[bool]string{true: "true", false: "false"}
		conf, _ := json.Marshal(manifest.Object{"name": "k8s-pod-network", "cniVersion": "0.3.1", "plugins": []manifest.Object{{
			"type": "calico", "policy": manifest.Object{"type": "k8s"},
			"ipam": manifest.Object{"type": "calico-ipam", "assign_ipv4": yes[d.fam.V4], "assign_ipv6": "true"},
		}}})
		w.Manifest("v1", "ConfigMap", manifest.InNamespace("kube-system/calico-config"), "data", manifest.Object{"cni_network_config": string(conf)})
	}
}

// defaultControllers is what kube-controllers write when they start and there is nothing
// yet. No cluster of 3.14 or newer is without it, and calicoctl ipam check fails where it
// is.
//
// Source: kube-controllers/pkg/config/runconfig.go, NewDefaultKubeControllersConfig;
// calicoctl/calicoctl/commands/ipam/check.go (v3.31).
var defaultControllers = manifest.Object{"controllers": manifest.Object{"node": manifest.Object{"leakGracePeriod": "15m0s"}}}

func (d *record) write(w *manifest.Writer) {
	for _, key := range kept.Keys(d.blocks) {
		b := *d.blocks[key]
		if b.Unallocated == nil {
			b.Unallocated = []int{}
		}
		if b.Attributes == nil {
			b.Attributes = []attribute{}
		}
		w.Manifest(version, "IPAMBlock", manifest.Named(BlockName(b.CIDR)), "spec", b)
	}
	for _, a := range d.affinities {
		w.Manifest(version, "BlockAffinity", a.metadata(), "spec", a.spec())
	}
	for _, id := range kept.Keys(d.handles) {
		h := *d.handles[id]
		if h.Block == nil {
			h.Block = map[string]int{}
		}
		w.Manifest(version, "IPAMHandle", manifest.Named(strings.ToLower(id)), "spec", h)
	}
}

// AffinityName is what Kubernetes calls an affinity of a node to a block, by its CIDR.
//
// Source: libcalico-go/lib/backend/k8s/resources, blockAffinityClient.parseKey (v3.31).
func AffinityName(node, cidr string) string { return node + "-" + BlockName(cidr) }

func (a *affinitySpec) name() string { return AffinityName(a.Node, a.CIDR) }

// Affinity is the BlockAffinity by which a node owns a block.
func Affinity(node string, block netip.Prefix) manifest.Object {
	a := affinitySpec{State: "confirmed", Node: node, Type: "host", CIDR: block.String()}
	return manifest.Object{"apiVersion": version, "kind": "BlockAffinity", "metadata": a.metadata(), "spec": a.spec()}
}

func (a *affinitySpec) spec() manifest.Object {
	return manifest.Object{"cidr": a.CIDR, "node": a.Node, "state": a.State, "type": a.Type, "deleted": fmt.Sprint(bool(a.Deleted))}
}

// metadata has the labels by which Calico looks for a node's affinities.
//
// Source: libcalico-go/lib/backend/model, EnsureBlockAffinityLabels (v3.31).
func (a *affinitySpec) metadata() manifest.Object {
	sum := sha3.Sum256([]byte(a.Node))
	family := "4"
	if strings.Contains(a.CIDR, ":") {
		family = "6"
	}
	return manifest.With(manifest.Named(a.name()), "labels", map[string]string{
		"projectcalico.org/affinity-type": a.Type, "projectcalico.org/hostname-hash": base32.StdEncoding.WithPadding(base32.NoPadding).EncodeToString(sum[:]),
		"projectcalico.org/ip-version": family,
	})
}
