// Package ctl is calicoctl in a run: upstream's own functions execute an operator's command and
// print its output.
package ctl
