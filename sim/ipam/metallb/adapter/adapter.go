// Package adapter connects the copy of MetalLB's controller (sim/ipam/metallb/copies.txt)
// to the Kubernetes API of the run. It replaces all packages that the copy may not import,
// also those of webhooks, speakers and the log, which do nothing here.
package adapter

import (
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/client-go/rest"

	"ipamsim/sim/ipam/platform"
)

// Machine is a process of the run. The code that executes a program sets
// platform.Program.Machine.
type Machine interface {
	// Config returns a configuration of the API server with the process's gate.
	Config() *rest.Config
	// Mapper returns the resources that the API server serves, without a discovery request.
	Mapper() meta.RESTMapper
}

// Here returns the process that the calling goroutine belongs to.
func Here() Machine { return platform.Current().Machine.(Machine) }
