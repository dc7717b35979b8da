package dump

import (
	"bytes"
	"cmp"
	"crypto/sha3"
	"encoding/base32"
	"encoding/json"
	"fmt"
	"strings"
	"unicode/utf8"
)

// writer writes manifests: each field of the first level on a line of its own,
// what is in it as JSON, which is YAML as well. All of it is ASCII.
type writer struct {
	bytes.Buffer
	err error
}

type object map[string]any

// manifest writes a document.
func (w *writer) manifest(apiVersion, kind string, metadata object, fields ...any) {
	fmt.Fprintf(w, "---\napiVersion: %s\nkind: %s\n", apiVersion, kind)
	w.field("metadata", metadata)
	for i := 0; i+1 < len(fields); i += 2 {
		w.field(fields[i].(string), fields[i+1])
	}
}

func (w *writer) field(name string, v any) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil && w.err == nil {
		w.err = err
	}
	w.WriteString(name)
	w.WriteString(": ")
	w.WriteString(ascii(strings.TrimSuffix(b.String(), "\n")))
	w.WriteByte('\n')
}

// ascii escapes what is none, as YAML's and, below U+10000, JSON's strings have it.
func ascii(s string) string {
	plain := true
	for i := 0; i < len(s); i++ {
		plain = plain && s[i] < 0x7f
	}
	if plain {
		return s
	}
	var b strings.Builder
	for _, r := range s {
		switch {
		case r < 0x7f:
			b.WriteRune(r)
		case r <= 0xffff:
			fmt.Fprintf(&b, `\u%04x`, r)
		case utf8.ValidRune(r):
			fmt.Fprintf(&b, `\U%08x`, r)
		}
	}
	return b.String()
}

func named(name string) object { return object{"name": name} }

func inNamespace(key string) object {
	ns, name, ok := strings.Cut(key, "/")
	if !ok {
		return object{"name": key}
	}
	return object{"name": name, "namespace": ns}
}

// manifests writes every object of the draft, in an order that people read: what
// is configured, the machines, the record, the pods.
func (d *draft) manifests(w *writer) {
	if d.calico {
		d.writePools(w)
	}
	for _, n := range d.networks {
		w.manifest("k8s.cni.cncf.io/v1", "NetworkAttachmentDefinition", inNamespace(n.key), "spec", object{"config": n.config})
	}
	for _, key := range keysOf(d.spaces) {
		n := d.spaces[key]
		if d.selective() || len(n.Annotations) > 0 {
			w.manifest("v1", "Namespace", with(named(key), "labels", n.Labels, "annotations", n.Annotations))
		}
	}
	for _, name := range keysOf(d.nodes) {
		d.writeNode(w, name)
	}
	if d.calico {
		d.writeRecord(w)
	}
	d.writeRanges(w)
	for _, c := range d.owning {
		c.write(w)
	}
	for i := range d.running {
		d.running[i].write(w, d.running[i].Phase)
	}
	for i := range d.waiting {
		d.waiting[i].write(w, cmp.Or(d.waiting[i].Phase, "Pending"))
	}
	for i := range d.finished {
		d.finished[i].write(w, d.finished[i].Phase)
	}
}

// with adds what is not empty.
func with(o object, pairs ...any) object {
	for i := 0; i+1 < len(pairs); i += 2 {
		if m, ok := pairs[i+1].(map[string]string); ok && len(m) > 0 {
			o[pairs[i].(string)] = m
		}
	}
	return o
}

func (d *draft) selective() bool {
	for _, p := range d.pools {
		if p.NamespaceSelector != "" && p.NamespaceSelector != "all()" {
			return true
		}
	}
	return false
}

func (d *draft) writePools(w *writer) {
	for _, name := range keysOf(d.pools) {
		w.manifest(calicoVersion, "IPPool", named(name), "spec", d.pools[name])
	}
	for _, name := range keysOf(d.reserving) {
		w.manifest(calicoVersion, "IPReservation", named(name), "spec", d.reserving[name])
	}
	if d.config != nil {
		w.manifest(calicoVersion, "IPAMConfig", named("default"), "spec", d.config)
	}
	for _, name := range d.controllers.keys() {
		w.manifest(calicoVersion, "KubeControllersConfiguration", named(name),
			"spec", object{"controllers": object{"node": object{"leakGracePeriod": d.controllers[name].value}}})
	}
	if len(d.controllers) == 0 {
		w.manifest(calicoVersion, "KubeControllersConfiguration", named("default"), "spec", defaultControllers)
	}
	if d.fam.v6 {
		yes := map[bool]string{true: "true", false: "false"}
		conf, _ := json.Marshal(object{"name": "k8s-pod-network", "cniVersion": "0.3.1", "plugins": []object{{
			"type": "calico", "policy": object{"type": "k8s"},
			"ipam": object{"type": "calico-ipam", "assign_ipv4": yes[d.fam.v4], "assign_ipv6": "true"},
		}}})
		w.manifest("v1", "ConfigMap", inNamespace("kube-system/calico-config"), "data", object{"cni_network_config": string(conf)})
	}
}

// defaultControllers is what kube-controllers write when they start and there is nothing
// yet. No cluster of 3.14 or newer is without it, and calicoctl ipam check fails where it
// is.
//
// Source: kube-controllers/pkg/config/runconfig.go, NewDefaultKubeControllersConfig;
// calicoctl/calicoctl/commands/ipam/check.go (v3.31).
var defaultControllers = object{"controllers": object{"node": object{"leakGracePeriod": "15m0s"}}}

func (d *draft) writeNode(w *writer, name string) {
	n := d.nodes[name]
	kept := map[string]string{}
	for k, v := range n.Annotations {
		if keptAnnotations[strings.TrimPrefix(k, nodeAnnotations)] {
			kept[k] = v
		}
	}
	ready := "True"
	if n.Unheard {
		ready = "Unknown"
	}
	fields := []any{"status", object{"conditions": []object{{"type": "Ready", "status": ready}}}}
	spec := object{}
	if n.Cordoned {
		spec["unschedulable"] = true
	}
	if len(n.Taints) > 0 {
		spec["taints"] = n.Taints
	}
	if len(spec) > 0 {
		fields = append(fields, "spec", spec)
	}
	w.manifest("v1", "Node", with(named(name), "labels", n.Labels, "annotations", kept), fields...)
}

// keptAnnotations of a node are what routes and tunnels need.
var keptAnnotations = map[string]bool{
	"IPv4Address": true, "IPv6Address": true, "ASNumber": true, "RouteReflectorClusterID": true,
	"IPv4IPIPTunnelAddr": true, "IPv4VXLANTunnelAddr": true, "IPv6VXLANTunnelAddr": true,
	"IPv4WireguardInterfaceAddr": true, "IPv6WireguardInterfaceAddr": true,
}

func (d *draft) writeRecord(w *writer) {
	for _, key := range d.blockKeys() {
		b := *d.blocks[key]
		if b.Unallocated == nil {
			b.Unallocated = []int{}
		}
		if b.Attributes == nil {
			b.Attributes = []attribute{}
		}
		w.manifest(calicoVersion, "IPAMBlock", named(blockName(b.CIDR)), "spec", b)
	}
	for _, a := range d.affinities {
		w.manifest(calicoVersion, "BlockAffinity", with(named(affinityName(a)), "labels", affinityLabels(a)), "spec", object{
			"cidr": a.CIDR, "node": a.Node, "state": a.State, "type": a.Type, "deleted": fmt.Sprint(bool(a.Deleted)),
		})
	}
	for _, id := range keysOf(d.handles) {
		h := *d.handles[id]
		if h.Block == nil {
			h.Block = map[string]int{}
		}
		w.manifest(calicoVersion, "IPAMHandle", named(strings.ToLower(id)), "spec", h)
	}
}

// affinityName is what Kubernetes calls an affinity.
//
// Source: libcalico-go/lib/backend/k8s/resources, blockAffinityClient.parseKey (v3.31).
func affinityName(a affinitySpec) string { return a.Node + "-" + blockName(a.CIDR) }

// affinityLabels are those by which Calico looks for a node's affinities.
//
// Source: libcalico-go/lib/backend/model, EnsureBlockAffinityLabels (v3.31).
func affinityLabels(a affinitySpec) map[string]string {
	sum := sha3.Sum256([]byte(a.Node))
	family := "4"
	if strings.Contains(a.CIDR, ":") {
		family = "6"
	}
	return map[string]string{
		"projectcalico.org/affinity-type": a.Type, "projectcalico.org/hostname-hash": base32.StdEncoding.WithPadding(base32.NoPadding).EncodeToString(sum[:]),
		"projectcalico.org/ip-version": family,
	}
}

func (d *draft) writeRanges(w *writer) {
	for _, key := range keysOf(d.sliced) {
		s := *d.sliced[key]
		if s.Status.Allocations == nil {
			s.Status.Allocations = []slice{}
		}
		w.manifest(rangeVersion, "NodeSlicePool", inNamespace(key), "spec", s.Spec, "status", s.Status)
	}
	for _, key := range keysOf(d.ranged) {
		w.manifest(rangeVersion, "IPPool", inNamespace(key), "spec", d.ranged[key])
	}
	for _, key := range keysOf(d.reserved) {
		w.manifest(rangeVersion, "OverlappingRangeIPReservation", inNamespace(key), "spec", d.reserved[key])
	}
}

// write writes a pod as the API server would show it to the scenario: where it
// runs and with which addresses.
func (r *running) write(w *writer, phase string) {
	notes := map[string]string{}
	if r.container != "" {
		notes[ContainerAnnotation] = r.container
	}
	if len(r.asked) > 0 {
		text, _ := json.Marshal(r.asked)
		notes[networksAnnotation] = string(text)
	}
	var all []status
	for _, a := range r.attached {
		s := status{Name: a.network, Interface: a.iface}
		for _, x := range a.addrs {
			s.IPs = append(s.IPs, x.String())
		}
		all = append(all, s)
	}
	if len(all) > 0 {
		text, _ := json.Marshal(all)
		notes[statusAnnotation] = string(text)
	}
	for k, v := range r.Annotations {
		if strings.HasPrefix(k, calicoAnnotations) && k != containerByCalico {
			notes[k] = v
		}
	}
	if id := r.Annotations[containerByCalico]; id != "" {
		notes[containerByCalico] = id
	}
	if r.made != nil && r.made.Kind == "Job" {
		notes[runFor] = "0s"
	}
	st := object{"phase": phase}
	if len(r.addrs) > 0 {
		var ips []object
		for _, a := range r.addrs {
			ips = append(ips, object{"ip": a.String()})
		}
		st["podIP"], st["podIPs"] = r.addrs[0].String(), ips
	}
	meta := with(inNamespace(r.ref()), "labels", r.Labels, "annotations", notes)
	switch {
	case r.made != nil:
		meta["ownerReferences"] = r.made.reference()
	case r.Owner.Kind == "DaemonSet": // a drain leaves it where it is
		meta["ownerReferences"] = (&controller{Owner: r.Owner}).reference()
	}
	spec := r.placed(object{"containers": mainContainer})
	if r.Node != "" {
		spec["nodeName"] = r.Node
	}
	w.manifest("v1", "Pod", meta, "spec", spec, "status", st)
}
