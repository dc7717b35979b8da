// Package model holds the facts a simulation is judged by: which sandboxes are
// alive with which addresses (the ground truth), what a datastore claims (the
// record), what happened (the history), and what was found wrong (violations).
//
// It performs no I/O, starts no goroutine and imports no upstream code.
package model
