package adapter

import (
	"context"

	real "k8s.io/client-go/tools/record"

	"ipamsim/sim/ipam/platform"
)

// EventBroadcaster and EventRecorder are client-go's.
type (
	EventBroadcaster = real.EventBroadcaster
	EventRecorder    = real.EventRecorder
)

// NewBroadcaster is client-go's, with the context of the program: upstream's broadcasters have
// no end of their own.
func NewBroadcaster() EventBroadcaster {
	return real.NewBroadcaster(real.WithContext(platform.Current().Ctx))
}

// SetupSignalHandler ends when the program is asked to end, or is killed.
func SetupSignalHandler() context.Context { return platform.Current().Signals() }
