package adapter

// Upstream's log is discarded: no network can raise its level, or open a file.

import (
	"fmt"

	real "github.com/k8snetworkplumbingwg/whereabouts/pkg/logging"
)

// Debugf and Verbosef say nothing.
func Debugf(string, ...any)   {}
func Verbosef(string, ...any) {}

// Errorf is the error, and says nothing.
func Errorf(format string, a ...any) error { return fmt.Errorf(format, a...) }

// GetLoggingLevel is the lowest.
func GetLoggingLevel() real.Level { return real.PanicLevel }

// SetLogLevel, SetLogStderr and SetLogFile have no effect.
func SetLogLevel(string) {}
func SetLogStderr(bool)  {}
func SetLogFile(string)  {}

// GetFullVersionWithRuntimeInfo is what the plugin prints when it is started by hand: nothing.
func GetFullVersionWithRuntimeInfo() string { return "" }
