// Package model holds the facts that a simulation is checked against: the live sandboxes and their
// addresses (the ground truth), the claims in a datastore (the record), the events (the history),
// and the violations.
//
// It performs no I/O, starts no goroutine and imports no upstream code.
package model
