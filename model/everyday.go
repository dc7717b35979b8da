package model

import (
	"slices"
	"strings"
)

// everyday are the kinds of what comes and goes in every cluster, without anybody thinking
// of addresses: workloads, with their pods, and Services.
var everyday = []string{"DaemonSet", "Deployment", "Job", "Pod", "Service", "StatefulSet"}

// Everyday reports whether a kind of objects is one that comes and goes in every cluster:
// making one is no operator's deed.
func Everyday(kind string) bool { return slices.Contains(everyday, kind) }

// EverydayResource says the same of a resource as kubectl takes it, with its group or
// without: pods, jobs.batch, and not pods.metrics.k8s.io.
func EverydayResource(resource string) bool {
	name, group, _ := strings.Cut(resource, ".")
	return slices.Contains([]string{"", "apps", "batch"}, group) &&
		slices.ContainsFunc(everyday, func(kind string) bool { return strings.ToLower(kind)+"s" == name })
}
