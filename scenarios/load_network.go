package scenarios

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	nadv1 "github.com/k8snetworkplumbingwg/network-attachment-definition-client/pkg/apis/k8s.cni.cncf.io/v1"
	nadutils "github.com/k8snetworkplumbingwg/network-attachment-definition-client/pkg/utils"
	"go.yaml.in/yaml/v3"
	corev1 "k8s.io/api/core/v1"

	"ipamsim/model"
	"ipamsim/scenarios/strict"
	"ipamsim/sim/cluster"
	"ipamsim/sim/ipam"
)

const (
	attachmentKind = "NetworkAttachmentDefinition"
	annotation     = nadv1.NetworkAttachmentAnnot
	defaultNetwork = "v1.multus-cni.io/default-network" // Multus, pkg/k8sclient, defaultNetAnnot
)

// networks reads the policy out of every NetworkAttachmentDefinition.
func (l *loader) networks() error {
	l.nets = map[string]bool{}
	for _, o := range l.s.Objects {
		if o.Kind != attachmentKind {
			continue
		}
		if err := l.network(l.s.docs[identity{o.Kind, o.Namespace, o.Name}], o.Namespace+"/"+o.Name); err != nil {
			return err
		}
	}
	if l.ipam.Check != nil {
		if err := l.blame(guard(func() error { return l.ipam.Check(l.s.Objects) })); err != nil {
			return err
		}
	}
	if l.ipam.Primary != nil {
		return l.primary()
	}
	if len(l.s.Networks) > 0 {
		return nil
	}
	for _, key := range slices.Sorted(maps.Keys(l.unranged)) {
		return l.unranged[key]
	}
	name := l.ipam.Name
	if len(l.nets) == 0 {
		return l.doc.FailAt(at("spec", "ipam"), "the file has no NetworkAttachmentDefinition, want one whose config has \"ipam\": {\"type\": %q}", name)
	}
	return l.doc.FailAt(at("spec", "ipam"), "no NetworkAttachmentDefinition of the file is for %s, want one whose config has \"ipam\": {\"type\": %q}", name, name)
}

func (l *loader) network(d *strict.Doc, key string) error {
	p := at("spec", "config")
	config := strict.Text(d.Root, "spec", "config")
	if strings.TrimSpace(config) == "" {
		l.nets[key] = false // Multus then looks for a file on the node
		return nil
	}
	if err := jsonObject(d, p, config); err != nil {
		return err
	}
	n, ours, err := policyOf(l.ipam, key, json.RawMessage(config), l.s.Objects)
	var object *ipam.ObjectError
	switch {
	case errors.As(err, &object):
		return l.blame(err)
	case errors.Is(err, errNoRange):
		if l.unranged == nil {
			l.unranged = map[string]error{}
		}
		l.unranged[key] = d.FailAt(p, "%s", err)
		l.nets[key] = true
		return nil
	case err != nil:
		return d.FailAt(p, "%s", err)
	}
	if l.nets[key] = ours; !ours {
		return nil
	}
	l.s.Networks = append(l.s.Networks, cluster.Network{Network: n, Config: json.RawMessage(config)})
	return l.plugins(json.RawMessage(config), func(string) (*strict.Doc, path) { return d, p })
}

// jsonObject checks the syntax of the CNI configuration, so that errors have a line.
func jsonObject(d *strict.Doc, p path, config string) error {
	var v map[string]any
	err := json.Unmarshal([]byte(config), &v)
	if err == nil {
		return nil
	}
	n := d.Node(p)
	e := d.Fail(n, p, "not a JSON object: %s", strict.OneLine(err))
	var syntax *json.SyntaxError
	if errors.As(err, &syntax) && syntax.Offset > 0 && int(syntax.Offset) <= len(config) {
		upTo := config[:syntax.Offset]
		e.Problem += ", behind " + strict.Quote(tail(upTo))
		e.Line += strict.LineWithin(n, len(upTo))
	}
	return e
}

// tail is the end of a text, for people to find it.
func tail(s string) string {
	if r := []rune(strings.Join(strings.Fields(s), " ")); len(r) > 24 {
		return string(r[len(r)-24:])
	} else {
		return string(r)
	}
}

// errNoRange is a network from which no pod can have an address. There may be one, as the
// manager's processes read it all the same; no pod may ask for it.
var errNoRange = errors.New(`no range: want "range": "10.0.0.0/24" or "ipRanges": [{"range": …}] in ipam`)

// inside refuses a network without a range, and a range whose ends lie outside of
// it. Whereabouts itself accepts
// range_start 10.0.1.5 in 10.0.0.0/24 and then counts from there.
func inside(n model.Network) error {
	if len(n.Ranges) == 0 {
		return errNoRange
	}
	for i, r := range n.Ranges {
		name := "range"
		if len(n.Ranges) > 1 {
			name = fmt.Sprintf("range %d", i+1)
		}
		switch {
		case r.Start.IsValid() && !r.Prefix.Contains(r.Start):
			return fmt.Errorf("range_start %s lies outside of %s %s", r.Start, name, r.Prefix)
		case r.End.IsValid() && !r.Prefix.Contains(r.End):
			return fmt.Errorf("range_end %s lies outside of %s %s", r.End, name, r.Prefix)
		case r.Start.IsValid() && r.End.IsValid() && r.End.Less(r.Start):
			return fmt.Errorf("range_end %s lies before range_start %s", r.End, r.Start)
		}
	}
	return nil
}

// templates are the paths of the metadata of a workload's pods.
var templates = map[string]path{
	"Pod":         at("metadata"),
	"StatefulSet": at("spec", "template", "metadata"),
	"Deployment":  at("spec", "template", "metadata"),
	"DaemonSet":   at("spec", "template", "metadata"),
	"Job":         at("spec", "template", "metadata"),
	"ReplicaSet":  at("spec", "template", "metadata"),
}

// attachments checks that pods ask for networks that exist.
func (l *loader) attachments() error {
	for _, o := range l.s.Objects {
		id := identity{o.Kind, o.Namespace, o.Name}
		if err := l.attached(l.s.docs[id], id); err != nil {
			return err
		}
	}
	return nil
}

func (l *loader) attached(d *strict.Doc, id identity) error {
	p, ok := templates[id.kind]
	if !ok {
		return nil
	}
	spec := append(p[:len(p)-1:len(p)-1], "spec")
	if who := strict.Text(d.Root, spec.Then("schedulerName")...); who != "" && who != corev1.DefaultSchedulerName && strict.Text(d.Root, spec.Then("nodeName")...) == "" {
		return d.FailAt(spec.Then("schedulerName"), "%s is not simulated, so the pods would not be scheduled: remove it", strict.Quote(who))
	}
	p = p.Then("annotations")
	if strict.Text(d.Root, p.Then(defaultNetwork)...) != "" {
		return d.FailAt(p.Then(defaultNetwork), "a default network of the pod's own is not simulated, leave it out")
	}
	p = p.Then(annotation)
	n, ok := strict.Locate(d.Root, p)
	if !ok {
		if misplaced := at("metadata", "annotations", annotation); strict.Text(d.Root, misplaced...) != "" {
			return d.FailAt(misplaced, "Multus reads this from the pods: it belongs in %s", p[:len(p)-1])
		}
		return nil
	}
	if n.Kind != yaml.ScalarNode || n.Value == "" {
		return nil
	}
	var asked []*nadv1.NetworkSelectionElement
	err := guard(func() (err error) {
		asked, err = nadutils.ParseNetworkAnnotation(n.Value, id.namespace)
		return err
	})
	if err != nil {
		return d.Fail(n, p, "%s: %s", strict.Quote(n.Value), strings.TrimPrefix(strict.OneLine(err), "parsePodNetworkAnnotation: "))
	}
	for _, a := range asked {
		if err := l.exists(d, n, p, a.Namespace+"/"+a.Name); err != nil {
			return err
		}
	}
	return nil
}

func (l *loader) exists(d *strict.Doc, n *yaml.Node, p path, key string) error {
	ours, there := l.nets[key]
	switch {
	case !there:
		return d.Fail(n, p, "there is no NetworkAttachmentDefinition %s, %s", strict.Quote(key), strict.Want(key, names(l.nets)))
	case l.unranged[key] != nil:
		return l.unranged[key]
	case !ours:
		return d.Fail(n, p, "network %s is not one of %s's, so it is not simulated: leave it out", key, l.ipam.Name)
	}
	return nil
}
