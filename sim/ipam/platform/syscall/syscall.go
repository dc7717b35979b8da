// Package syscall names signals.
package syscall

import real "syscall"

// SIGTERM is Go's own.
const SIGTERM = real.SIGTERM
