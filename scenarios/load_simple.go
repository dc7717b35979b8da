package scenarios

import (
	"slices"

	"go.yaml.in/yaml/v3"
	corev1 "k8s.io/api/core/v1"

	"ipamsim/scenarios/strict"
	"ipamsim/sim/cluster/action"
)

// simpleControllers is how a scenario asks for the stand-ins of Kubernetes' controllers.
const simpleControllers = "simple"

// beyondSimple are the fields, by kind, that say to Kubernetes' own controllers what the
// simple ones do not do. A kind without fields is beyond them as a whole.
var beyondSimple = map[string][]path{
	"Deployment":  append(ofPods("spec", "template", "spec"), at("spec", "paused"), at("spec", "minReadySeconds")),
	"StatefulSet": append(ofPods("spec", "template", "spec"), at("spec", "updateStrategy", "rollingUpdate", "partition"), at("spec", "ordinals"), at("spec", "minReadySeconds")),
	"DaemonSet":   append(ofPods("spec", "template", "spec"), at("spec", "updateStrategy", "rollingUpdate", "maxSurge"), at("spec", "minReadySeconds")),
	"Job": append(ofPods("spec", "template", "spec"), at("spec", "suspend"), at("spec", "completionMode"), at("spec", "podFailurePolicy"), at("spec", "successPolicy"),
		at("spec", "activeDeadlineSeconds"), at("spec", "ttlSecondsAfterFinished"), at("spec", "backoffLimitPerIndex"), at("spec", "podReplacementPolicy")),
	"Pod":     ofPods("spec"),
	"CronJob": nil,
}

// ofPods are those of a pod's spec, which is under a path.
func ofPods(under ...any) (out []path) {
	for _, p := range []path{
		at("affinity", "podAffinity", "requiredDuringSchedulingIgnoredDuringExecution"),
		at("affinity", "podAntiAffinity", "requiredDuringSchedulingIgnoredDuringExecution"),
		at("topologySpreadConstraints"), at("priorityClassName"),
	} {
		out = append(out, append(append(path{}, under...), p...))
	}
	return out
}

const wantReal = "the simple controllers ignore it: set controllers: real, or remove it"

// simple finds what a scenario wants of controllers that the simple ones do not do. Where
// they run it is refused, but not in a recorded run of before they were an exception, nor
// of an imported cluster: import says itself what it leaves out.
func (l *loader) simple(c *check) {
	if c.err != nil {
		return
	}
	if l.s.beyondSimple == nil {
		l.s.beyondSimple = l.beyondSimple()
	}
	s := l.s.Doc.Spec
	old := s.Controllers == "" && s.Schedule != nil
	_, imported := strict.Locate(l.doc.Root, at("spec", "import"))
	if !l.s.real() && !old && !imported {
		c.err = l.s.beyondSimple
	}
}

// beyondSimple is the first of it, nil if there is none.
func (l *loader) beyondSimple() error {
	c := &check{doc: l.doc}
	_, given := strict.Locate(l.doc.Root, at("spec", "controlPlane"))
	c.bad(given, at("spec", "controlPlane"), "the simple controllers do not have it, want spec.controllers: real")
	for i, e := range l.s.Doc.Spec.Timeline {
		d, deletes := e.Action.(*action.Delete)
		c.bad(deletes && d.Resource == "namespaces", at("spec", "timeline", i, "delete", "resource"), "deleting a namespace deletes its objects; %s", wantReal)
	}
	for _, o := range l.s.Objects {
		d := l.s.docs[identity{o.Kind, o.Namespace, o.Name}]
		fields, known := beyondSimple[o.Kind]
		if d == nil || !known || c.err != nil {
			continue
		}
		if fields == nil {
			return d.FailAt(at("kind"), "%s", wantReal)
		}
		for _, p := range fields {
			if n, said := strict.Locate(d.Root, p); said && !preferred(n) {
				return d.Fail(n, p, "%s", wantReal)
			}
		}
	}
	return c.err
}

// preferred reports whether these are spread constraints that a scheduler may pass over.
func preferred(n *yaml.Node) bool {
	return n.Kind == yaml.SequenceNode && !slices.ContainsFunc(n.Content, func(c *yaml.Node) bool {
		return strict.Text(c, "whenUnsatisfiable") != string(corev1.ScheduleAnyway)
	})
}
