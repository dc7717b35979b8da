// Package door is what the copy of MetalLB's controller (sim/ipam/metallb/copies.txt)
// reaches the run through: the Kubernetes API. The folders below have the names of the
// packages in whose place they are imported.
package door

import (
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/client-go/rest"

	"ipamsim/sim/ipam/platform"
)

// Machine is a process of the run: whoever executes a program puts it into
// platform.Program.
type Machine interface {
	// Config says how to reach the API server: through the gate of the process.
	Config() *rest.Config
	// Mapper knows what the API server serves: no message asks for it.
	Mapper() meta.RESTMapper
}

// Here is the process that the calling goroutine belongs to.
func Here() Machine { return platform.Current().Machine.(Machine) }
