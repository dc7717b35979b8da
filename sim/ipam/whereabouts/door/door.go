// Package door is what copies of Whereabouts' programs (sim/ipam/whereabouts/copies.txt)
// reach the run through: the API server. The folders below have the names of the
// packages in whose place they are imported.
package door

import (
	"k8s.io/client-go/rest"

	"ipamsim/sim/ipam/platform"
)

// Machine is a process of the run: whoever executes a program puts it into
// platform.Program.
type Machine interface {
	// Config says how to reach the API server: through the gate of the process.
	Config() *rest.Config
}

// Config is that of the process that the calling goroutine belongs to.
func Config() *rest.Config { return platform.Current().Machine.(Machine).Config() }
