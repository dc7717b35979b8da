package adapter

// Kubernetes' log is the real one, except for the parts that belong to the process: its flags, its
// exit.

import (
	"flag"
	"time"

	real "k8s.io/klog/v2"

	"ipamsim/sim/ipam/platform"
)

// ExitFlushTimeout is the real one.
var ExitFlushTimeout = real.ExitFlushTimeout

// Functions of the real one.
var (
	FromContext      = real.FromContext
	Info             = real.Info
	Infof            = real.Infof
	KRef             = real.KRef
	LoggerWithValues = real.LoggerWithValues
	V                = real.V
)

// InitFlags has nothing to do: a program is started with no arguments.
func InitFlags(*flag.FlagSet) {}

// FlushAndExit ends the program.
func FlushAndExit(_ time.Duration, code int) { platform.Current().Exit(code) }
