//go:build calico330

package adapter

// NewFromEnv is the process's client. Up to 3.30 kube-controllers calls it.
func NewFromEnv() (Interface, error) { return Here().Calico(0) }
