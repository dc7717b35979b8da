package dump_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
)

// part is what a user may send of a dump: some lists, or some objects of them, in one of the
// forms in which they come.
type part struct {
	files []partFile
	how   string
	clear bool // all of it is there, and something shows that
}

// cutList is a list, and what is left of it.
type cutList struct {
	*resourceList
	items     []json.RawMessage
	whole     bool
	namespace string // all objects of this one are left; "": not known
}

// part takes a random part, in a random form. What records the command records the one that
// prints this part; only a list with its count is edited behind the command's back.
func (w *entire) part(rng *rand.Rand) *part {
	p := &part{clear: true}
	var left []*cutList
	only := -1 // the one list that is cut; -1: any
	if rng.IntN(2) == 0 && len(w.lists) > 0 {
		only = rng.IntN(2 * len(w.lists)) // or none
	}
	for i, l := range w.lists {
		c := &cutList{resourceList: l, items: l.items, whole: true}
		if only < 0 || i == only {
			c = l.cut(rng)
			if p.clear = p.clear && (c.whole || w.unneeded(l)); rng.IntN(12) == 0 {
				p.clear = p.clear && w.unneeded(l)
				p.how += ", no " + l.resource
				continue
			}
			if !c.whole {
				p.how += fmt.Sprintf(", %d of %d %s", len(c.items), len(l.items), l.resource)
			}
		}
		left = append(left, c)
	}
	forms := []struct {
		how   string
		shows bool
		write func(*rand.Rand, []*cutList) []partFile
	}{
		{"counted lists", true, counted},
		{"counted lists", true, counted},
		{"a terminal", true, terminal},
		{"files with names", true, named},
		{"one merged list", false, merged},
		{"documents", false, documents},
		{"a file for each object", false, objectFiles},
	}
	f := forms[rng.IntN(len(forms))]
	p.how, p.clear = f.how+p.how, p.clear && f.shows
	if p.files = f.write(rng, left); len(left) == 0 {
		p.files = nil
	}
	for _, o := range w.opaque {
		if rng.IntN(6) > 0 {
			p.files = append(p.files, o)
		} else {
			p.clear = false
		}
	}
	rng.Shuffle(len(p.files), func(i, j int) { p.files[i], p.files[j] = p.files[j], p.files[i] })
	return p
}

// unneeded reports whether nothing is concluded from the absence of a resource's objects: they
// are of a manager that the dump does not have, or of a kind that only adds to what others say.
// A mesh does without BGPPeers.
func (w *entire) unneeded(l *resourceList) bool {
	_, group, _ := strings.Cut(l.resource, ".")
	switch group {
	case "whereabouts.cni.cncf.io", "k8s.cni.cncf.io":
		return !slices.ContainsFunc(w.lists, func(l *resourceList) bool {
			return strings.Contains(l.resource, "cni.cncf.io") && len(l.items) > 0
		})
	case "metallb.io":
		return l.resource == "servicel2statuses.metallb.io" || !w.balances() || l.resource == "bgppeers.metallb.io" && !w.has("bgpadvertisements.metallb.io")
	case "networking.k8s.io", "":
		if l.resource == "services" || group != "" {
			return !slices.ContainsFunc(w.lists, func(l *resourceList) bool { return l.resource == "services" && len(l.items) > 0 })
		}
	case "crd.projectcalico.org":
		if !slices.ContainsFunc(w.lists, func(l *resourceList) bool { return strings.HasPrefix(l.resource, "ipamblocks.") && len(l.items) > 0 }) {
			return true
		}
	}
	if strings.HasPrefix(l.resource, "bgp") && w.vxlan() {
		return true
	}
	return len(l.items) == 0 && strings.HasPrefix(l.resource, "bgppeers.") || slices.Contains([]string{
		"namespaces", "clusterinformations.crd.projectcalico.org", "kubecontrollersconfigurations.crd.projectcalico.org", "replicasets.apps", "daemonsets.apps",
		"deployments.apps", "statefulsets.apps", "jobs.batch", "cronjobs.batch", "configmaps", "virtualmachineinstances.kubevirt.io",
	}, l.resource)
}

// has reports whether the dump has an object of a resource.
func (w *entire) has(resource string) bool {
	return slices.ContainsFunc(w.lists, func(l *resourceList) bool { return l.resource == resource && len(l.items) > 0 })
}

// balances reports whether the dump has MetalLB pools, or Services that MetalLB may serve.
func (w *entire) balances() bool {
	return slices.ContainsFunc(w.lists, func(l *resourceList) bool {
		return strings.HasSuffix(l.resource, ".metallb.io") && len(l.items) > 0 || l.resource == "services" &&
			slices.ContainsFunc(l.items, func(item json.RawMessage) bool { return strings.Contains(string(item), `"LoadBalancer"`) })
	})
}

// vxlan reports whether the routes of every pool are made without BGP.
func (w *entire) vxlan() bool {
	return !slices.ContainsFunc(w.list("ippools.crd.projectcalico.org").items, func(item json.RawMessage) bool {
		return !strings.Contains(string(item), `"vxlanMode":"Always"`) && !strings.Contains(string(item), `"vxlanMode":"CrossSubnet"`)
	})
}

// cut leaves out nothing, one by one, or what is not of one namespace or node.
func (l *resourceList) cut(rng *rand.Rand) *cutList {
	c := &cutList{resourceList: l, items: l.items, whole: true}
	if len(l.items) == 0 || rng.IntN(2) == 0 {
		return c
	}
	var of metaOf
	_ = json.Unmarshal(l.items[rng.IntN(len(l.items))], &of)
	how, share := rng.IntN(3), rng.IntN(100)
	c.items = slices.DeleteFunc(slices.Clone(l.items), func(item json.RawMessage) bool {
		var o metaOf
		_ = json.Unmarshal(item, &o)
		switch {
		case how == 0 && of.Metadata.Namespace != "":
			c.namespace = of.Metadata.Namespace
			return o.Metadata.Namespace != of.Metadata.Namespace
		case how == 1 && of.Spec.NodeName != "":
			return o.Spec.NodeName != of.Spec.NodeName
		}
		return rng.IntN(100) < share
	})
	c.whole = len(c.items) == len(l.items)
	return c
}

func listOf(items []json.RawMessage) string {
	if items == nil {
		items = []json.RawMessage{}
	}
	text, _ := json.Marshal(map[string]any{"apiVersion": "v1", "kind": "List", "metadata": map[string]string{"resourceVersion": ""}, "items": items})
	return string(text) + "\n"
}

// counted are lists as the command prints them that collects a dump: the number behind a list
// is the one that the command counted.
func counted(_ *rand.Rand, lists []*cutList) []partFile {
	var b strings.Builder
	for _, l := range lists {
		fmt.Fprintf(&b, "--- # %s\n%s--- # %d %s\n", l.resource, listOf(l.items), len(l.resourceList.items), l.resource)
	}
	return []partFile{{"dump.yaml", b.String()}}
}

// command is the one that prints what is left of a list.
func (l *cutList) command(rng *rand.Rand) string {
	get := "$ kubectl get " + l.resource
	switch {
	case l.whole:
		return get + " -A -o json\n"
	case l.namespace != "" && rng.IntN(2) == 0:
		return get + " -n " + l.namespace + " -o json\n"
	case l.namespace != "":
		return get + " -o json\n"
	}
	return get + []string{" -A -l app=x -o json\n", " -A --field-selector spec.nodeName=w1 -o json\n", " -A -o json | jq 'del(.items[3:])'\n", " x y z -o json\n"}[rng.IntN(4)]
}

func terminal(rng *rand.Rand, lists []*cutList) []partFile {
	var b strings.Builder
	for _, l := range lists {
		b.WriteString(l.command(rng) + listOf(l.items))
	}
	return []partFile{{"terminal.log", b.String()}}
}

func named(_ *rand.Rand, lists []*cutList) (out []partFile) {
	for _, l := range lists {
		name := l.resource + ".json"
		if l.whole {
			name = "kubectl-get-" + l.resource + "-A.json"
		}
		out = append(out, partFile{name, listOf(l.items)})
	}
	return out
}

func merged(_ *rand.Rand, lists []*cutList) []partFile {
	var all []json.RawMessage
	for _, l := range lists {
		all = append(all, l.items...)
	}
	return []partFile{{"all.json", listOf(all)}}
}

func documents(rng *rand.Rand, lists []*cutList) []partFile {
	var b strings.Builder
	for _, f := range objectFiles(rng, lists) {
		b.WriteString("---\n" + f.text)
	}
	return []partFile{{"kubectl-get-pods-A.yaml", b.String() + "---\n"}}
}

func objectFiles(_ *rand.Rand, lists []*cutList) (out []partFile) {
	for _, l := range lists {
		for i, item := range l.items {
			out = append(out, partFile{fmt.Sprintf("%s-%d.json", l.resource, i), string(item) + "\n"})
		}
	}
	return out
}
