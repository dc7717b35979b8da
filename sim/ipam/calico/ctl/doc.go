// Package ctl is calicoctl in a run: upstream's own functions do what an operator types
// and print it.
package ctl
