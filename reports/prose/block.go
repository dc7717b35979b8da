package prose

import (
	"fmt"
	"strings"

	"ipamsim/model"
	"ipamsim/model/act"
)

// block tells of a block: "reads block 10.64.75.0/26 of kubestage1001: 64 of 64
// used", "writes block …: 10.64.75.228 for default/web-3, if still at revision
// 17".
func block(a *act.Act) string {
	t := &a.Thing
	name, whose := "block "+t.Name, of(t.Owner.Name)
	switch {
	case a.Verb == act.List:
		return list(a, "blocks", func(t *act.Thing) string { return t.Name + of(t.Owner.Name) + " " + fill(t) })
	case a.Verb == act.Create && t.Owner.Name != "":
		return "makes " + name + " for " + t.Owner.Name + refusal(a, "block")
	case a.Verb == act.Create:
		return "makes " + name + refusal(a, "block")
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

// fill is how many addresses of a block are taken.
func fill(t *act.Thing) string { return fmt.Sprintf("%d of %d used", t.Used, t.Size) }

// written is what a write of a block is for: whom it gives addresses to, and whose
// it releases.
func written(a *act.Act) string {
	if a.Thing.Deleted {
		return "marked as deleted"
	}
	var said []string
	if len(a.Gives) > 0 {
		said = append(said, some(a.Gives, func(t *act.Thing) string { return t.Name + " for " + owner(t) }))
	}
	if len(a.Takes) > 0 {
		said = append(said, "releases "+some(a.Takes, func(t *act.Thing) string { return t.Name + " of " + owner(t) }))
	}
	if a.Thing.Owner.Name == "" {
		said = append(said, "nobody's any more")
	}
	if len(said) == 0 {
		return fill(&a.Thing)
	}
	return strings.Join(said, ", ")
}

// owner is whose an address is: a pod, a node's tunnel, or else what there is.
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
	return "nobody known"
}

// affinity tells of a node's claim: "claims block X for N (affinity pending)",
// "confirms …".
func affinity(a *act.Act) string {
	t := &a.Thing
	what := "the affinity of " + t.Owner.Name + " to " + t.Name
	switch {
	case a.Verb == act.List:
		return list(a, "affinities", func(t *act.Thing) string { return preference(t, a.Thing.Owner.Name == "") })
	case a.Verb == act.Read && a.Outcome == act.Absent:
		return "sees that " + t.Owner.Name + " has no affinity to " + t.Name
	case a.Verb == act.Create:
		return "claims block " + t.Name + " for " + t.Owner.Name + " (affinity " + t.State + ")" + refusal(a, "affinity")
	case a.Verb == act.Update && t.Deleted:
		return "marks " + what + " as deleted" + condition(a) + refusal(a, "affinity")
	case a.Verb == act.Update && t.State == model.Confirmed:
		return "confirms " + what + condition(a) + refusal(a, "affinity")
	case a.Verb == act.Update:
		return "marks " + what + " as " + t.State + condition(a) + refusal(a, "affinity")
	case a.Verb == act.Delete:
		return "drops " + what + condition(a) + refusal(a, "affinity")
	case a.Verb == act.Hear && a.Gone:
		return "hears that " + what + " was dropped"
	case a.Verb == act.Hear:
		return "hears of " + what + ": " + t.State
	}
	return about(a, what, t.State+marked(t), "affinity")
}

// preference is one affinity of a list.
func preference(t *act.Thing, whose bool) string {
	text := t.Name
	if whose {
		text += of(t.Owner.Name)
	}
	if t.State != model.Confirmed {
		text += " (" + t.State + ")"
	}
	return text
}

// handle tells of the count by which addresses are released: "counts 1 for handle
// k8s-pod-network.1f2e in 10.64.75.0/26".
func handle(a *act.Act) string {
	t := &a.Thing
	name := "handle " + short(t.Name)
	switch {
	case a.Verb == act.List:
		return list(a, "handles", func(t *act.Thing) string { return short(t.Name) })
	case (a.Verb == act.Create || a.Verb == act.Update) && t.Deleted:
		return "marks " + name + " as deleted" + condition(a) + refusal(a, "handle")
	case a.Verb == act.Create || a.Verb == act.Update:
		return "counts " + counts(t) + " for " + name + condition(a) + refusal(a, "handle")
	case a.Verb == act.Hear:
		return ""
	}
	return about(a, name, counts(t)+marked(t), "handle")
}

// marked says that an object is as good as gone: with the Kubernetes datastore
// upstream marks what it is about to delete.
func marked(t *act.Thing) string {
	if t.Deleted {
		return ", marked as deleted"
	}
	return ""
}

// counts is what a handle has: "1 in 10.64.75.0/26".
func counts(t *act.Thing) string {
	if len(t.Parts) == 0 {
		return "nothing"
	}
	return some(t.Parts, func(b *act.Thing) string { return fmt.Sprintf("%d in %s", b.Used, b.Name) })
}

// shortMax is how much of a container id tells it from others.
const shortMax = 12

// short is a handle whose container id is cut as container runtimes do.
func short(handle string) string {
	dot := strings.LastIndexByte(handle, '.')
	if id := handle[dot+1:]; dot >= 0 && len(id) > shortMax && strings.Trim(id, "0123456789abcdef") == "" {
		return handle[:dot+1] + id[:shortMax]
	}
	return handle
}
