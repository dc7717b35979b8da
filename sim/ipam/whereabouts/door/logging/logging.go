// Package logging is upstream's log, which nobody reads here: no network can make it
// louder, or open a file.
package logging

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
