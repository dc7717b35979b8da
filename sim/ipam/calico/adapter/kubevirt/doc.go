// Package kubevirt is Calico's view of KubeVirt in a cluster that has none.
package kubevirt
