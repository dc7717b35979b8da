package plan

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"net/netip"
	"slices"

	"ipamsim/model/capacity/workload"
	"ipamsim/sim/cluster"
	"ipamsim/sim/cluster/kubeapi"
)

const (
	nodeKind = "Node"
	podKind  = "Pod"
)

// Body is a manifest that is being changed, or a part of one.
type Body = map[string]any

// objects are the manifests with what the settings say; nodes and pods are left
// out, which a run has of its own.
func (p *Plan) objects(d *Draft) ([]cluster.Object, error) {
	var out []cluster.Object
	for _, o := range p.base.Objects {
		if !slices.Contains(left, o.Kind) {
			out = append(out, o)
		}
	}
	if p.manager.Manifests == nil {
		return out, nil
	}
	return p.manager.Manifests(d, out)
}

// left are the kinds of what runs, and of what makes it run.
var left = []string{nodeKind, podKind, "StatefulSet", "Deployment", "DaemonSet", "Job", "CronJob", "Lease"}

// Change changes the first manifest of a kind, if there is one.
func Change(all []cluster.Object, kind string, f func(Body) error) ([]cluster.Object, error) {
	i := slices.IndexFunc(all, func(o cluster.Object) bool { return o.Kind == kind })
	if i < 0 {
		return all, nil
	}
	b, err := OpenManifest(all[i])
	if err == nil {
		err = f(b)
	}
	if err == nil {
		all[i].Body, err = json.Marshal(b)
	}
	return all, err
}

// OpenManifest is the manifest of an object, its numbers as they are written.
func OpenManifest(o cluster.Object) (Body, error) {
	b := Body{}
	d := json.NewDecoder(bytes.NewReader(o.Body))
	d.UseNumber()
	return b, d.Decode(&b)
}

// Under is the mapping under a key, made if there is none.
func Under(b Body, key string) Body {
	inner, ok := b[key].(Body)
	if !ok {
		inner = Body{}
		b[key] = inner
	}
	return inner
}

// Manifest is an object.
func Manifest(apiVersion, kind, namespace, name string, spec Body) (cluster.Object, error) {
	meta := Body{"name": name}
	if namespace != "" {
		meta["namespace"] = namespace
	}
	b, err := json.Marshal(Body{"apiVersion": apiVersion, "kind": kind, "metadata": meta, "spec": spec})
	return cluster.Object{Kind: kind, Namespace: namespace, Name: name, Body: b}, err
}

// machines are the nodes at the beginning: the first of the manifests, and as many
// more as it takes.
func (d *Draft) machines(base []cluster.Object) (out []machine, err error) {
	for _, o := range base {
		if o.Kind != nodeKind {
			continue
		}
		var n struct {
			Metadata struct {
				Labels      map[string]string `json:"labels"`
				Annotations map[string]string `json:"annotations"`
			} `json:"metadata"`
		}
		if err := json.Unmarshal(o.Body, &n); err != nil {
			return nil, err
		}
		notes := d.plan.base.Manager().Annotations
		addr, _ := netip.ParsePrefix(n.Metadata.Annotations[notes.Node]) // not valid: the simulated cluster gives it one
		addr6, _ := netip.ParsePrefix(n.Metadata.Annotations[notes.Node6])
		out = append(out, machine{workload.Node{Name: o.Name, Labels: n.Metadata.Labels, Addr: addr, Addr6: addr6}, o.Body})
	}
	slices.SortStableFunc(out, func(a, b machine) int { return cmp.Compare(a.Name, b.Name) })
	have := map[string]bool{}
	for _, m := range out {
		have[m.Name] = true
	}
	if d.nodes == 0 {
		return out, nil
	}
	for i := 1; len(out) < d.nodes; i++ {
		if name := fmt.Sprintf("node-%04d", i); !have[name] {
			out = append(out, machine{workload.Node{Name: name}, kubeapi.NodeManifest(name, nil)})
		}
	}
	return out[:d.nodes], nil
}

// machine is a node of the beginning.
type machine struct {
	workload.Node
	body json.RawMessage
}
