package prose

import (
	"fmt"
	"strings"

	"ipamsim/model/act"
	"ipamsim/reports/layout"
)

// pod describes a read of a pod with the fields that Whereabouts' reconciler uses: the
// phase and the addresses in the network-status annotation.
func pod(a *act.Act) string {
	switch {
	case a.Verb == act.Hear:
		return "observes that " + a.Thing.Name + " was deleted"
	case a.Verb == act.List && a.Outcome != act.Done:
		return list(a, "pods", nil)
	case a.Verb == act.List:
		return podsAndBare(a.Thing.Parts)
	case a.Outcome == act.Absent:
		return "finds no pod " + a.Thing.Name
	}
	text := "reads " + a.Thing.Name + ": " + phase(&a.Thing)
	if n := a.Thing.Part(act.NetworkStatus); n != nil {
		return text + ", network-status " + strings.Join(names(n.Parts), " ")
	}
	return text + ", no network-status"
}

// podsAndBare counts pods and names the pods without network-status.
func podsAndBare(all []act.Thing) string {
	var bare []act.Thing
	for _, t := range all {
		if t.Part(act.NetworkStatus) == nil {
			bare = append(bare, t)
		}
	}
	text := "reads " + layout.Plural(len(all), "pod")
	if len(bare) > 0 {
		text += fmt.Sprintf(", %d without network-status: %s", len(bare), some(bare, func(t *act.Thing) string { return familiar(t.Name) + " " + phase(t) }))
	}
	return text
}

func phase(t *act.Thing) string {
	if t.Deleted {
		return t.State + " (being deleted)"
	}
	return t.State
}

// apiPod describes a request for a pod by anything but Whereabouts.
func apiPod(a *act.Act) string {
	t := &a.Thing
	n := t.Part(act.NetworkStatus)
	switch {
	case a.Verb == act.List && len(t.Parts) > 0:
		return "lists " + layout.Plural(len(t.Parts), "pod")
	case a.Verb == act.Read:
		return "reads pod " + t.Name + ": " + state(t)
	case a.Verb != act.Patch && a.Verb != act.Update:
		return Asked(a)
	case n != nil:
		return "writes network-status of pod " + t.Name + ": " + strings.Join(names(n.Parts), " ")
	case t.State != "":
		return "writes status of pod " + t.Name + ": " + t.State
	}
	return third(a.Verb) + " pod " + t.Name
}

// state returns the phase and the addresses that a pod's object contains.
func state(t *act.Thing) string {
	text := t.State
	if t.Deleted {
		text += ", being deleted"
	}
	n, addr := t.Part(act.NetworkStatus), t.Part(act.Address)
	switch {
	case n != nil && n.State == act.Awaited:
		return text + ", no network-status yet"
	case n != nil:
		return text + ", network-status " + strings.Join(names(n.Parts), " ")
	case addr != nil:
		return text + ", " + addr.Name
	}
	return text + ", no address yet"
}

// Asked describes a request to the API server by verb, resource and name: "patches
// pods/status default/web-0". For an event it returns "".
func Asked(a *act.Act) string {
	if a.Verb == act.Hear || a.Verb == "" {
		return ""
	}
	what := string(a.Thing.Kind)
	if a.Subresource != "" {
		what += "/" + a.Subresource
	}
	return strings.TrimSpace(third(a.Verb) + " " + what + " " + a.Thing.Name)
}

// third returns a verb in the third person.
func third(v act.Verb) string {
	switch {
	case strings.HasSuffix(string(v), "tch"):
		return string(v) + "es"
	case v == act.Clear:
		return "deletes all of"
	}
	return string(v) + "s"
}
