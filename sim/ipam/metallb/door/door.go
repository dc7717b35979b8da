// Package door is what the copy of MetalLB's controller (sim/ipam/metallb/copies.txt)
// reaches the run through: the Kubernetes API. It stands for all the packages that the copy
// may not import, also for those of webhooks, speakers and the log, which do nothing here.
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
