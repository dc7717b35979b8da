package scenarios

import (
	"bytes"
	"net/netip"
	"reflect"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation"

	"ipamsim/scenarios/strict"
	"ipamsim/sim/cluster"
	"ipamsim/sim/cluster/kubeapi"
)

// manifests reads every document but the Scenario.
func (l *loader) manifests(file string, roots []*yaml.Node) error {
	for _, r := range roots {
		if r == l.doc.Root {
			continue
		}
		if err := l.manifest(&strict.Doc{File: file, Root: r, Dialect: strict.Kubectl, Base: l.base}); err != nil {
			return err
		}
	}
	return nil
}

func (l *loader) manifest(d *strict.Doc) error {
	if d.Root.Kind != yaml.MappingNode {
		return d.Fail(d.Root, nil, "want a manifest with apiVersion and kind, not %s", strict.Describe(d.Root))
	}
	if strict.Text(d.Root, "kind") == "List" {
		return l.list(d)
	}
	id, body, err := l.object(d)
	if err != nil {
		return err
	}
	if first := l.s.docs[id]; first != nil {
		d.Object = ""
		return d.FailAt(at("metadata", "name"), "a second %s, the first is in line %d", id, first.Root.Line+first.Base)
	}
	l.s.docs[id] = d
	if l.large {
		defer slim(d, id.kind)
	}
	switch id.kind {
	case "Node":
		l.nodes[id.name] = true
	case "CronJob":
		if runs, err := l.cronJob(d); runs || err != nil {
			return err
		}
	}
	l.s.Objects = append(l.s.Objects, cluster.Object{Kind: id.kind, Namespace: id.namespace, Name: id.name, Body: body})
	return nil
}

// list unpacks what kubectl get -o yaml prints for more than one object.
func (l *loader) list(d *strict.Doc) error {
	items, ok := strict.Locate(d.Root, at("items"))
	if !ok {
		return d.Fail(d.Root, at("items"), "missing")
	}
	if items.Kind != yaml.SequenceNode {
		return d.Fail(items, at("items"), "want a list of manifests, not %s", strict.Describe(items))
	}
	for _, item := range items.Content {
		if err := l.manifest(&strict.Doc{File: d.File, Root: item, Dialect: strict.Kubectl, Base: d.Base}); err != nil {
			return err
		}
	}
	return nil
}

// object checks a manifest's kind and name and turns it into JSON.
func (l *loader) object(d *strict.Doc) (id identity, body []byte, err error) {
	version := strict.Text(d.Root, "apiVersion")
	id.kind = kubeapi.KindOf(l.kinds, strict.Text(d.Root, "kind"), version)
	k, known := l.kinds[id.kind]
	switch {
	case id.kind == "":
		return id, nil, d.FailAt(at("kind"), "missing; every document needs apiVersion and kind")
	case !known && strict.Nearest(id.kind, append(names(l.kinds), Kind)) != "":
		return id, nil, d.FailAt(at("kind"), "%s is not known, %s", strict.Quote(id.kind), strict.Want(id.kind, append(names(l.kinds), Kind)))
	case !known:
		return id, nil, d.FailAt(at("kind"), "%s is not simulated, leave it out", strict.Quote(id.kind))
	case version == "":
		return id, nil, d.FailAt(at("apiVersion"), "missing, want %s for a %s", k.apiVersion, id.kind)
	case k.apiVersion != "" && version != k.apiVersion && version != k.also:
		return id, nil, d.FailAt(at("apiVersion"), "a %s here is %s, not %s", id.kind, k.apiVersion, strict.Quote(version))
	}
	if lack := realOnly[id.kind]; lack != "" && l.s.beyondSimple == nil {
		l.s.beyondSimple = d.FailAt(at("kind"), "%s needs Kubernetes' own controllers, with the simple ones %s: want spec.controllers: real, or leave it out", strict.Quote(id.kind), lack)
	}
	id.name, id.namespace = strict.Text(d.Root, "metadata", "name"), strict.Text(d.Root, "metadata", "namespace")
	d.Object = id.kind
	if id.name == "" {
		return id, nil, d.FailAt(at("metadata", "name"), "missing")
	}
	if problem := badName(id.name); problem != "" && !isAddress(id.kind, id.name) {
		return id, nil, d.FailAt(at("metadata", "name"), "%s", problem)
	}
	switch {
	case !k.namespaced && id.namespace != "":
		return id, nil, d.FailAt(at("metadata", "namespace"), "a %s has no namespace, remove it", id.kind)
	case k.namespaced && id.namespace == "":
		id.namespace = "default"
	case k.namespaced && len(validation.IsDNS1123Label(id.namespace)) > 0:
		return id, nil, d.FailAt(at("metadata", "namespace"), "%s is no valid namespace, want lower-case letters, digits and -", strict.Quote(id.namespace))
	}
	d.Object = id.String()
	strip(d.Root)
	if err := legible(d, d.Root, nil); err != nil {
		return id, nil, err
	}
	var b bytes.Buffer
	if k.typ == nil { // every kind's metadata is of one type
		if err := d.Encode(&b, d.Node(at("metadata")), reflect.TypeFor[metav1.ObjectMeta](), at("metadata")); err != nil {
			return id, nil, err
		}
		b.Reset()
	}
	err = d.Encode(&b, d.Root, k.typ, nil)
	return id, b.Bytes(), err
}

// serverSet are the fields that kubectl get prints and the API server sets
// itself; it would refuse an object that is created with some of them.
var serverSet = []string{"creationTimestamp", "deletionTimestamp", "deletionGracePeriodSeconds", "generation", "managedFields", "resourceVersion", "selfLink", "uid"}

// strip removes them.
func strip(root *yaml.Node) {
	meta, ok := strict.Locate(root, at("metadata"))
	if !ok || meta.Kind != yaml.MappingNode {
		return
	}
	kept := meta.Content[:0:0]
	for i := 0; i+1 < len(meta.Content); i += 2 {
		if !slices.Contains(serverSet, meta.Content[i].Value) {
			kept = append(kept, meta.Content[i], meta.Content[i+1])
		}
	}
	meta.Content = kept
}

// isAddress reports whether an IPAddress is called as its address is: with colons, if that
// is of IPv6.
func isAddress(kind, name string) bool {
	a, err := netip.ParseAddr(name)
	return kind == "IPAddress" && err == nil && a.Zone() == ""
}

// badName describes an invalid name of an object; "" if it is valid.
func badName(name string) string {
	blacked, _ := strict.BlackedOut(name)
	switch {
	case name == "":
		return "an empty name"
	case blacked != "":
		return blacked
	case len(name) > validation.DNS1123SubdomainMaxLength:
		return "a name of more than 253 characters"
	case len(validation.IsDNS1123Subdomain(name)) > 0:
		return strict.Quote(name) + " is no valid name, want lower-case letters, digits, - and ., a letter or digit at both ends"
	}
	return ""
}

// legible refuses a manifest with blacked-out addresses.
func legible(d *strict.Doc, n *yaml.Node, p path) error {
	if n.Kind == yaml.ScalarNode {
		if !strings.ContainsAny(n.Value, "xX*") {
			return nil // most values of a large file
		}
		if problem, at := strict.BlackedOut(n.Value); problem != "" {
			e := d.Fail(n, p, "%s", problem)
			e.Line += strict.LineWithin(n, at)
			return e
		}
		return nil
	}
	for i, c := range n.Content {
		step := p.Then(i)
		if n.Kind == yaml.MappingNode {
			step = p.Then(n.Content[i-i%2].Value)
		}
		if err := legible(d, c, step); err != nil {
			return err
		}
	}
	return nil
}
