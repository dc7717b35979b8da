package dump_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"

	"ipamsim/scenarios/dump/kept"
	"ipamsim/sim/cluster"
	"ipamsim/sim/ipam"
)

// player is a pod of a dump, as far as its controller knows it.
type player struct {
	Metadata struct {
		Name, Namespace     string
		Labels, Annotations map[string]string
		OwnerReferences     []struct{ Kind, Name string }
		DeletionTimestamp   string
	}
	Spec struct {
		NodeName     string
		NodeSelector map[string]string
		Tolerations  []map[string]any
	}
	Status struct{ Phase, PodIP string }
}

// podSet are the pods of a dump, by NAMESPACE/NAME.
type podSet map[string]*player

// podSetOf reads the pods from kubectl's lists, by a way of its own.
func podSetOf(t *testing.T, name string, files []string) podSet {
	t.Helper()
	all := podSet{}
	for _, file := range files {
		text, err := os.ReadFile(filepath.Join("testdata/truth", name, file))
		if err != nil {
			t.Fatal(err)
		}
		if bytes.HasPrefix(text, []byte("$ ")) { // the command
			_, text, _ = bytes.Cut(text, []byte("\n"))
		}
		for _, doc := range bytes.Split(text, []byte("\n---")) {
			if bytes.HasPrefix(doc, []byte(" # ")) {
				_, doc, _ = bytes.Cut(doc, []byte("\n"))
			}
			var list struct{ Items []json.RawMessage }
			if yaml.Unmarshal(doc, &list) == nil { // else something of calicoctl's
				all.add(list.Items)
			}
		}
	}
	return all
}

func (all podSet) add(items []json.RawMessage) {
	for _, item := range items {
		var o struct{ Kind string }
		p := &player{}
		if json.Unmarshal(item, &o) == nil && o.Kind == "Pod" && json.Unmarshal(item, p) == nil {
			all[p.Metadata.Namespace+"/"+p.Metadata.Name] = p
		}
	}
}

func (p *player) owner() string {
	if len(p.Metadata.OwnerReferences) == 0 {
		return ""
	}
	return p.Metadata.OwnerReferences[0].Kind
}

// lost returns the pods that lost their address although they were not deleted, and the recreated
// pods without an address. Deleted are NAMESPACE/NAME.
func (all podSet) lost(stored []cluster.Object, deleted map[string]bool, made []string) (out []string) {
	has := map[string]string{}
	for _, o := range stored {
		var p player
		if o.Kind == "Pod" && json.Unmarshal(o.Body, &p) == nil {
			has[o.Namespace+"/"+o.Name] = p.Status.PodIP
		}
	}
	for _, key := range slices.Sorted(maps.Keys(all)) {
		p := all[key]
		if now, there := has[key]; there && now != p.Status.PodIP && !deleted[key] && p.Status.Phase == "Running" && p.Metadata.DeletionTimestamp == "" {
			out = append(out, fmt.Sprintf("%s had %s and has %q", key, p.Status.PodIP, now))
		}
	}
	for _, key := range made {
		if has[key] == "" {
			out = append(out, key+" has no address")
		}
	}
	return out
}

// next is the name of the pod that its controller makes.
func (p *player) next() string {
	if p.owner() == "StatefulSet" {
		return p.Metadata.Name
	}
	return p.Metadata.Name + "-again"
}

// successor is the pod that its controller makes: what a CNI plugin or Multus has written
// of the old one is not of the new one. A StatefulSet's has the old one's name.
func (p *player) successor() map[string]any {
	notes := map[string]string{}
	for k, v := range p.Metadata.Annotations {
		switch {
		case strings.HasPrefix(k, "cni.projectcalico.org/pod"), k == "cni.projectcalico.org/containerID", strings.HasPrefix(k, "k8s.v1.cni.cncf.io/network-status"), strings.HasPrefix(k, "k8s.v1.cni.cncf.io/networks-status"):
		default:
			notes[k] = v
		}
	}
	spec := map[string]any{"containers": []any{map[string]any{"name": "main", "image": "registry.example/web:1"}}}
	if len(p.Spec.Tolerations) > 0 {
		spec["tolerations"] = p.Spec.Tolerations
	}
	if p.owner() == "DaemonSet" {
		spec["nodeName"] = p.Spec.NodeName
	} else if len(p.Spec.NodeSelector) > 0 {
		spec["nodeSelector"] = p.Spec.NodeSelector
	}
	return map[string]any{
		"apiVersion": "v1", "kind": "Pod", "spec": spec,
		"metadata": map[string]any{"name": p.next(), "namespace": p.Metadata.Namespace, "labels": p.Metadata.Labels, "annotations": notes},
	}
}

// make makes a pod's successor.
func (o *typist) make(p *player) {
	o.do("apply", map[string]any{"object": p.successor()})
	o.made = append(o.made, p.Metadata.Namespace+"/"+p.next())
}

// deletePods types kubectl delete pod and acts as controllers do: a ReplicaSet creates a new pod
// immediately, a StatefulSet and a DaemonSet when the old one is gone. A bare pod is not
// recreated, and a virtual machine is off.
func (o *typist) deletePods(namespace string, names []string) {
	for _, n := range names {
		o.deleted[namespace+"/"+n] = true
		o.do("delete", map[string]any{"resource": "pods", "namespace": namespace, "name": n})
	}
	for _, late := range []bool{false, true} {
		if late {
			o.now += stopping
		}
		for _, n := range names {
			p := o.podSet[namespace+"/"+n]
			if p == nil {
				continue
			}
			switch kind := p.owner(); kind {
			case "", "VirtualMachineInstance", "Node":
			default:
				if late == (kind == "StatefulSet" || kind == "DaemonSet") {
					o.make(p)
				}
			}
		}
	}
	o.now += stopping
}

// migrate types the creation of a VirtualMachineInstanceMigration, and does what
// KubeVirt does: another launcher elsewhere, then the old one goes.
func (o *typist) migrate(line string) error {
	namespace, vm := field(line, "namespace"), field(line, "vmiName")
	for _, p := range o.podSet {
		if p.Metadata.Namespace != namespace || p.owner() != "VirtualMachineInstance" || p.Metadata.OwnerReferences[0].Name != vm {
			continue
		}
		node := p.Spec.NodeName
		o.do("cordon", map[string]any{"node": node})
		o.make(p)
		o.now += stopping
		o.deleted[namespace+"/"+p.Metadata.Name] = true
		o.do("delete", map[string]any{"resource": "pods", "namespace": namespace, "name": p.Metadata.Name})
		o.do("cordon", map[string]any{"node": node, "undo": true})
		o.now += stopping
		return nil
	}
	return fmt.Errorf("no launcher of %s/%s", namespace, vm)
}

// The annotations that a scenario is written with are those that a run reads.
func TestAnnotations(t *testing.T) {
	if kept.ContainerAnnotation != cluster.ContainerAnnotation || kept.FilesAnnotation != ipam.FilesAnnotation {
		t.Errorf("%q, %q; want %q, %q", kept.ContainerAnnotation, kept.FilesAnnotation, cluster.ContainerAnnotation, ipam.FilesAnnotation)
	}
}
