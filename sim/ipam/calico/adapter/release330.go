//go:build calico330

package adapter

// NewFromEnv is the process's client: up to 3.30 kube-controllers makes it so.
func NewFromEnv() (Interface, error) { return Here().Calico(0) }
