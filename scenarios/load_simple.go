package scenarios

import "ipamsim/scenarios/strict"

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
	"Pod":        ofPods("spec"),
	"CronJob":    nil,
	"ReplicaSet": nil, "ReplicationController": nil, "PodDisruptionBudget": nil,
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

const wantReal = "the simple controllers do nothing about it: say controllers: real, or remove it"

// simple finds what a scenario that asks for the simple controllers wants of them and they
// cannot do.
func (l *loader) simple(c *check) {
	if l.s.Doc.Spec.Controllers != simpleControllers || c.err != nil {
		return
	}
	for i, e := range l.s.Doc.Spec.Timeline {
		c.bad(e.Delete != nil && e.Delete.Resource == "namespaces", at("spec", "timeline", i, "delete", "resource"), "a namespace that is deleted goes with what is in it; %s", wantReal)
	}
	for _, o := range l.s.Objects {
		d := l.s.docs[identity{o.Kind, o.Namespace, o.Name}]
		fields, known := beyondSimple[o.Kind]
		if d == nil || !known || c.err != nil {
			continue
		}
		if fields == nil {
			c.err = d.FailAt(at("kind"), "%s", wantReal)
		}
		for _, p := range fields {
			if n, said := strict.Locate(d.Root, p); said && c.err == nil {
				c.err = d.Fail(n, p, "%s", wantReal)
			}
		}
	}
}
