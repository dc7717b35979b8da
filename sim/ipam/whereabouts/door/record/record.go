// Package record makes broadcasters of events that end with their process: upstream's
// have no end of their own.
package record

import (
	real "k8s.io/client-go/tools/record"

	"ipamsim/sim/ipam/platform"
)

// EventBroadcaster and EventRecorder are client-go's.
type (
	EventBroadcaster = real.EventBroadcaster
	EventRecorder    = real.EventRecorder
)

// NewBroadcaster is client-go's, with the context of the program.
func NewBroadcaster() EventBroadcaster {
	return real.NewBroadcaster(real.WithContext(platform.Current().Ctx))
}
