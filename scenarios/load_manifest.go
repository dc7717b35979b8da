package scenarios

import (
	"bytes"
	"reflect"
	"regexp"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation"

	"ipamsim/sim/cluster"
)

// manifests reads every document but the Scenario.
func (l *loader) manifests(file string, roots []*yaml.Node) error {
	for _, r := range roots {
		if r == l.doc.root {
			continue
		}
		if err := l.manifest(&doc{file: file, root: r, dialect: kubectls, base: l.base}); err != nil {
			return err
		}
	}
	return nil
}

func (l *loader) manifest(d *doc) error {
	if d.root.Kind != yaml.MappingNode {
		return d.fail(d.root, nil, "want a manifest with apiVersion and kind, not %s", describe(d.root))
	}
	if text(d.root, "kind") == "List" {
		return l.list(d)
	}
	id, body, err := l.object(d)
	if err != nil {
		return err
	}
	if first := l.s.docs[id]; first != nil {
		d.object = ""
		return d.failAt(at("metadata", "name"), "a second %s, the first is in line %d", id, first.root.Line+first.base)
	}
	l.s.docs[id] = d
	if l.large {
		defer d.slim(id.kind)
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
func (l *loader) list(d *doc) error {
	items, ok := locate(d.root, at("items"))
	if !ok {
		return d.fail(d.root, at("items"), "missing")
	}
	if items.Kind != yaml.SequenceNode {
		return d.fail(items, at("items"), "want a list of manifests, not %s", describe(items))
	}
	for _, item := range items.Content {
		if err := l.manifest(&doc{file: d.file, root: item, dialect: kubectls, base: d.base}); err != nil {
			return err
		}
	}
	return nil
}

// object checks a manifest's kind and name and turns it into JSON.
func (l *loader) object(d *doc) (id identity, body []byte, err error) {
	version := text(d.root, "apiVersion")
	id.kind = cluster.KindOf(l.kinds, text(d.root, "kind"), version)
	k, known := l.kinds[id.kind]
	switch {
	case id.kind == "":
		return id, nil, d.failAt(at("kind"), "missing; every document needs apiVersion and kind")
	case !known && nearest(id.kind, append(names(l.kinds), Kind)) != "":
		return id, nil, d.failAt(at("kind"), "%s is not known, %s", quote(id.kind), want(id.kind, append(names(l.kinds), Kind)))
	case !known:
		return id, nil, d.failAt(at("kind"), "%s is not simulated, leave it out; these are: %s", quote(id.kind), strings.Join(names(l.kinds), ", "))
	case version == "":
		return id, nil, d.failAt(at("apiVersion"), "missing, want %s for a %s", k.apiVersion, id.kind)
	case k.apiVersion != "" && version != k.apiVersion && version != k.also:
		return id, nil, d.failAt(at("apiVersion"), "a %s here is %s, not %s", id.kind, k.apiVersion, quote(version))
	}
	id.name, id.namespace = text(d.root, "metadata", "name"), text(d.root, "metadata", "namespace")
	d.object = id.kind
	if id.name == "" {
		return id, nil, d.failAt(at("metadata", "name"), "missing")
	}
	if problem := badName(id.name); problem != "" {
		return id, nil, d.failAt(at("metadata", "name"), "%s", problem)
	}
	switch {
	case !k.namespaced && id.namespace != "":
		return id, nil, d.failAt(at("metadata", "namespace"), "a %s has no namespace, remove it", id.kind)
	case k.namespaced && id.namespace == "":
		id.namespace = "default"
	case k.namespaced && len(validation.IsDNS1123Label(id.namespace)) > 0:
		return id, nil, d.failAt(at("metadata", "namespace"), "%s is no valid namespace, want lower-case letters, digits and -", quote(id.namespace))
	}
	d.object = id.String()
	strip(d.root)
	if err := d.legible(d.root, nil); err != nil {
		return id, nil, err
	}
	var b bytes.Buffer
	if k.typ == nil { // every kind's metadata is of one type
		if err := d.encode(&b, d.node(at("metadata")), reflect.TypeFor[metav1.ObjectMeta](), at("metadata")); err != nil {
			return id, nil, err
		}
		b.Reset()
	}
	err = d.encode(&b, d.root, k.typ, nil)
	return id, b.Bytes(), err
}

// serverSet are the fields that kubectl get prints and the API server sets
// itself; it would refuse an object that is created with some of them.
var serverSet = []string{"creationTimestamp", "deletionTimestamp", "deletionGracePeriodSeconds", "generation", "managedFields", "resourceVersion", "selfLink", "uid"}

// strip removes them.
func strip(root *yaml.Node) {
	meta, ok := locate(root, at("metadata"))
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

// badName says what is wrong with the name of an object, or "".
func badName(name string) string {
	switch {
	case name == "":
		return "an empty name"
	case blackedOut.MatchString(name):
		return blacked(name)
	case len(name) > validation.DNS1123SubdomainMaxLength:
		return "a name of more than 253 characters"
	case len(validation.IsDNS1123Subdomain(name)) > 0:
		return quote(name) + " is no valid name, want lower-case letters, digits, - and ., a letter or digit at both ends"
	}
	return ""
}

// blackedOut finds addresses as reports print them: 172.xx.xx.192.
var blackedOut = regexp.MustCompile(`(?i)\b\d{1,3}\.(\d{1,3}\.x+|x+\.\d{1,3}|x+\.x+)\.(\d{1,3}|x+)\b|\b\d{1,3}\.\d{1,3}\.\d{1,3}\.x+\b`)

var blackedPart = regexp.MustCompile(`(?i)\.x+`)

func blacked(s string) string {
	found := blackedOut.FindString(s)
	return "the address " + found + " is blacked out: write the real one or any other, e.g. " +
		blackedPart.ReplaceAllString(found, ".16") + ", the same everywhere"
}

// legible refuses a manifest with blacked-out addresses.
func (d *doc) legible(n *yaml.Node, p path) error {
	if n.Kind == yaml.ScalarNode {
		if !strings.ContainsAny(n.Value, "xX") {
			return nil // most values of a large file
		}
		if i := blackedOut.FindStringIndex(n.Value); i != nil {
			e := d.fail(n, p, "%s", blacked(n.Value))
			e.Line += lineWithin(n, i[0])
			return e
		}
		return nil
	}
	for i, c := range n.Content {
		step := p.then(i)
		if n.Kind == yaml.MappingNode {
			step = p.then(n.Content[i-i%2].Value)
		}
		if err := d.legible(c, step); err != nil {
			return err
		}
	}
	return nil
}

// lineWithin is how many lines below a block of text ("key: |") the character at
// an offset stands. Text in quotes is folded, so there it is not known.
func lineWithin(n *yaml.Node, offset int) int {
	if n.Style&yaml.LiteralStyle == 0 {
		return 0
	}
	return 1 + strings.Count(n.Value[:offset], "\n")
}
