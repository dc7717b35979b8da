package model

import (
	"slices"
	"strings"
)

// everyday are the kinds of objects that come and go in every cluster: workloads, their
// pods, and Services.
var everyday = []string{"DaemonSet", "Deployment", "Job", "Pod", "Service", "StatefulSet"}

// Everyday reports whether objects of a kind come and go in every cluster: creating one is
// Ordinary.
func Everyday(kind string) bool { return slices.Contains(everyday, kind) }

// EverydayResource is the same for a resource as kubectl takes it, with or without its group: pods,
// jobs.batch, but not pods.metrics.k8s.io.
func EverydayResource(resource string) bool {
	name, group, _ := strings.Cut(resource, ".")
	return slices.Contains([]string{"", "apps", "batch"}, group) &&
		slices.ContainsFunc(everyday, func(kind string) bool { return strings.ToLower(kind)+"s" == name })
}
