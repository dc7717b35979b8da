package dump

import (
	"encoding/json"
	"slices"
	"strings"

	"ipamsim/scenarios/dump/kept"
)

func (c *Cluster) addPod(h *kept.Head, raw json.RawMessage) error {
	p, images, err := c.PodOf(h, raw, c.ofPods)
	if err != nil {
		return err
	}
	c.sawImages(images)
	return kept.Put(c.Store, c.Pods, h.Key(), h, p)
}

func (c *Cluster) addNode(h *kept.Head, raw json.RawMessage) error {
	n, err := c.NodeOf(h, raw, c.ofNodes)
	if err != nil || c.Merge(c.Nodes, h, n, true) {
		return err
	}
	return kept.Put(c.Store, c.Nodes, h.Metadata.Name, h, n)
}

// Note adds data about a node from a manager's own tool, as annotations; the node's own annotations take
// precedence.
func (c *Cluster) Note(h *kept.Head, annotations map[string]string) error {
	n := kept.Node{Labels: c.Labels(h.Metadata.Labels), Annotations: annotations}
	if c.Merge(c.Nodes, h, n, false) {
		return nil
	}
	return kept.Put(c.Store, c.Nodes, h.Metadata.Name, h, n)
}

func (c *Cluster) addNamespace(h *kept.Head, _ json.RawMessage) error {
	return kept.Put(c.Store, c.Namespaces, h.Metadata.Name, h, c.NamespaceOf(h, c.ofPods))
}

func (c *Cluster) addWorkload(h *kept.Head, raw json.RawMessage) error {
	w, images, err := kept.WorkloadOf(raw)
	if err != nil {
		return err
	}
	c.sawImages(images)
	c.Owns(h.Kind+" "+h.Key(), w.Pods)
	return kept.Put(c.Store, c.workloads, h.Kind+" "+h.Key(), h, w)
}

// ofPods reports whether a manager's annotation of pods is kept, ofNodes one of nodes.
func (c *Cluster) ofPods(annotation string) bool {
	return slices.ContainsFunc(c.readings, func(r *reading) bool { return begins(annotation, r.importer.PodNotes) })
}

func (c *Cluster) ofNodes(annotation string) bool {
	return slices.ContainsFunc(c.readings, func(r *reading) bool { return begins(annotation, r.importer.NodeNotes) })
}

func begins(s, prefix string) bool { return prefix != "" && strings.HasPrefix(s, prefix) }

// identifies reports whether an annotation of pods is the id of the container, in the words
// of some manager.
func (c *Cluster) identifies(annotation string) bool {
	return slices.ContainsFunc(c.readings, func(r *reading) bool { return annotation == r.manager.Annotations.Container })
}

// written reports whether a manager wrote an annotation of the pod that has it.
func (c *Cluster) written(annotation string) bool {
	return slices.ContainsFunc(c.readings, func(r *reading) bool { return r.importer.Written != nil && r.importer.Written(annotation) })
}

// keptOfNode reports whether an annotation of a node gets into the scenario.
func (c *Cluster) keptOfNode(annotation string) bool {
	return slices.ContainsFunc(c.readings, func(r *reading) bool { return r.importer.KeptOfNode != nil && r.importer.KeptOfNode(annotation) })
}
