// Package clientset is kube-controllers' client for projectcalico.org/v3, which this cluster
// does not serve.
package clientset
