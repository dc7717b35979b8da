// Package exit is how a command ends: its exit code, its error on one line, an interrupt.
package exit

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"syscall"

	"ipamsim/reports"
	"ipamsim/scenarios/strict"
)

// Exit codes: what scripts and CI look at.
const (
	Expected  = 0 // every run ended as its scenario says
	Violation = 1 // a violation that was not expected, or an expected one that did not happen
	Cannot    = 2 // nothing was proven: usage, bad input, environment, a limit, an interruption
)

// Error is how a command ends that does not end with 0. Err is nil if everything
// was said already.
type Error struct {
	Code int
	Err  error
}

func (e *Error) Error() string { return fmt.Sprintf("exit %d: %v", e.Code, e.Err) }
func (e *Error) Unwrap() error { return e.Err }

// CodeOf returns the exit code of a command, and prints the message of its error, if it has one. A
// closed pipe is no error: its reader has seen enough.
func CodeOf(err error, stderr io.Writer) int {
	if err == nil {
		return Expected
	}
	var e *Error
	if !errors.As(err, &e) {
		e = &Error{Code: Cannot, Err: err}
	}
	if e.Err != nil && !errors.Is(e.Err, syscall.EPIPE) {
		fmt.Fprintln(stderr, Message(e.Err))
	}
	return e.Code
}

// Message is an error on one line, or on one for each bad file. One about a scenario file begins with file
// and line, as editors like it.
func Message(err error) string {
	var files *BadFiles
	if errors.As(err, &files) {
		return files.Error()
	}
	var bad *strict.Error
	if errors.As(err, &bad) {
		return reports.Clean(bad.Error())
	}
	return "ipamsim: " + reports.Clean(strings.Join(strings.Fields(err.Error()), " "))
}

// BadFiles are the mistakes in several files, a line for each.
type BadFiles struct{ Errs []error }

func (b *BadFiles) Error() string {
	lines := make([]string, len(b.Errs))
	for i, e := range b.Errs {
		lines[i] = Message(e)
	}
	return strings.Join(lines, "\n")
}
