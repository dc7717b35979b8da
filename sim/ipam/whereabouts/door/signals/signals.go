// Package signals ends a daemon with its process.
package signals

import (
	"context"

	"ipamsim/sim/ipam/platform"
)

// SetupSignalHandler is the program's context.
func SetupSignalHandler() context.Context { return platform.Current().Ctx }
