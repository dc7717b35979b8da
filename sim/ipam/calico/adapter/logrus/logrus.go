// Package logrus replaces upstream's log, which is discarded here: a program cannot raise its
// level.
package logrus

import (
	"io"

	real "github.com/sirupsen/logrus"
)

// Entry, Fields and Level are the real ones.
type (
	Entry  = real.Entry
	Fields = real.Fields
	Level  = real.Level
)

// The levels are the real ones.
const (
	ErrorLevel = real.ErrorLevel
	WarnLevel  = real.WarnLevel
	InfoLevel  = real.InfoLevel
	DebugLevel = real.DebugLevel
)

// Functions of the real one.
var (
	Debug      = real.Debug
	Debugf     = real.Debugf
	Info       = real.Info
	Infof      = real.Infof
	Warn       = real.Warn
	Warnf      = real.Warnf
	Warning    = real.Warning
	Error      = real.Error
	Errorf     = real.Errorf
	Fatal      = real.Fatal
	Fatalf     = real.Fatalf
	Panic      = real.Panic
	Panicf     = real.Panicf
	WithError  = real.WithError
	WithField  = real.WithField
	WithFields = real.WithFields
	ParseLevel = real.ParseLevel
)

// SetLevel has no effect.
func SetLevel(Level) {}

// SetOutput has no effect.
func SetOutput(io.Writer) {}
