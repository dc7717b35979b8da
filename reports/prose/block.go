package prose

import (
	"fmt"
	"strings"

	"ipamsim/model"
	"ipamsim/model/act"
)

// block describes an action on a block: "reads block 10.64.75.0/26 of kubestage1001: 64 of 64
// used", "writes block …: 10.64.75.228 for default/web-3, if still at revision
// 17".
func block(a *act.Act) string {
	t := &a.Thing
	name, whose := "block "+t.Name, of(t.Owner.Name)
	switch {
	case a.Verb == act.List:
		return list(a, "blocks", func(t *act.Thing) string { return t.Name + of(t.Owner.Name) + " " + fill(t) })
	case a.Verb == act.Create && t.Owner.Name != "":
		return "creates " + name + " for " + t.Owner.Name + refusal(a, "block")
	case a.Verb == act.Create:
		return "creates " + name + refusal(a, "block")
	case a.Verb == act.Update:
		return "writes " + name + whose + ": " + written(a) + condition(a) + refusal(a, "block")
	case a.Verb == act.Read && a.Outcome == act.Done, a.Verb == act.Hear && !a.Gone:
		name += whose
	}
	holds := fill(t)
	if a.Verb == act.Read {
		holds += marked(t)
	}
	return about(a, name, holds, "block")
}

// fill returns how many addresses of a block are used.
func fill(t *act.Thing) string { return fmt.Sprintf("%d of %d used", t.Used, t.Size) }

// written lists the addresses that a write assigns and releases, with their owners.
func written(a *act.Act) string {
	if a.Thing.Deleted {
		return "marked as deleted"
	}
	var parts []string
	if len(a.Gives) > 0 {
		parts = append(parts, some(a.Gives, func(t *act.Thing) string { return t.Name + " for " + owner(t) }))
	}
	if len(a.Takes) > 0 {
		parts = append(parts, "releases "+some(a.Takes, func(t *act.Thing) string { return t.Name + " of " + owner(t) }))
	}
	if a.Thing.Owner.Name == "" {
		parts = append(parts, "affinity removed")
	}
	if len(parts) == 0 {
		return fill(&a.Thing)
	}
	return strings.Join(parts, ", ")
}

// owner names the owner of an address: a pod, a node's tunnel, a handle or a node.
func owner(t *act.Thing) string {
	switch t.Owner.Kind {
	case model.RefPod:
		return t.Owner.Name
	case act.Tunnel:
		return "the tunnel of " + t.Owner.Name
	case model.RefHandle:
		return "handle " + short(t.Owner.Name)
	case model.RefNode:
		return "node " + t.Owner.Name
	}
	return "an unknown owner"
}

// affinity describes an action on a node's block affinity: "claims block X for N (affinity pending)",
// "confirms …".
func affinity(a *act.Act) string {
	t := &a.Thing
	what := "the affinity of " + t.Owner.Name + " to " + t.Name
	switch {
	case a.Verb == act.List:
		return list(a, "affinities", func(t *act.Thing) string { return listedAffinity(t, a.Thing.Owner.Name == "") })
	case a.Verb == act.Read && a.Outcome == act.Absent:
		return "finds no affinity of " + t.Owner.Name + " to " + t.Name
	case a.Verb == act.Create:
		return "claims block " + t.Name + " for " + t.Owner.Name + " (affinity " + t.State + ")" + refusal(a, "affinity")
	case a.Verb == act.Update && t.Deleted:
		return "marks " + what + " as deleted" + condition(a) + refusal(a, "affinity")
	case a.Verb == act.Update && t.State == model.Confirmed:
		return "confirms " + what + condition(a) + refusal(a, "affinity")
	case a.Verb == act.Update:
		return "marks " + what + " as " + t.State + condition(a) + refusal(a, "affinity")
	case a.Verb == act.Delete:
		return "deletes " + what + condition(a) + refusal(a, "affinity")
	case a.Verb == act.Hear && a.Gone:
		return "observes that " + what + " was deleted"
	case a.Verb == act.Hear:
		return "observes " + what + ": " + t.State
	}
	return about(a, what, t.State+marked(t), "affinity")
}

// listedAffinity describes one affinity of a list, with its node if owner is true.
func listedAffinity(t *act.Thing, owner bool) string {
	text := t.Name
	if owner {
		text += of(t.Owner.Name)
	}
	if t.State != model.Confirmed {
		text += " (" + t.State + ")"
	}
	return text
}

// handle describes an action on an IPAM handle, which counts a workload's addresses in each
// block: "writes handle k8s-pod-network.1f2e: 1 in 10.64.75.0/26".
func handle(a *act.Act) string {
	t := &a.Thing
	name := "handle " + short(t.Name)
	switch {
	case a.Verb == act.List:
		return list(a, "handles", func(t *act.Thing) string { return short(t.Name) })
	case (a.Verb == act.Create || a.Verb == act.Update) && t.Deleted:
		return "marks " + name + " as deleted" + condition(a) + refusal(a, "handle")
	case a.Verb == act.Create || a.Verb == act.Update:
		return "writes " + name + ": " + counts(t) + condition(a) + refusal(a, "handle")
	case a.Verb == act.Hear:
		return ""
	}
	return about(a, name, counts(t)+marked(t), "handle")
}

// marked notes that an object is marked as deleted. With the Kubernetes datastore, upstream
// marks an object before it deletes it.
func marked(t *act.Thing) string {
	if t.Deleted {
		return ", marked as deleted"
	}
	return ""
}

// counts lists a handle's addresses by block: "1 in 10.64.75.0/26".
func counts(t *act.Thing) string {
	if len(t.Parts) == 0 {
		return "no addresses"
	}
	return some(t.Parts, func(b *act.Thing) string { return fmt.Sprintf("%d in %s", b.Used, b.Name) })
}

// shortMax is the length to which short cuts a container ID, as docker ps does.
const shortMax = 12

// short returns a handle with its container ID cut to shortMax digits.
func short(handle string) string {
	dot := strings.LastIndexByte(handle, '.')
	if id := handle[dot+1:]; dot >= 0 && len(id) > shortMax && strings.Trim(id, "0123456789abcdef") == "" {
		return handle[:dot+1] + id[:shortMax]
	}
	return handle
}
