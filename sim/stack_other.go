//go:build !amd64 && !arm64

package sim

import (
	"runtime"
	"unsafe"
)

// callers is runtime.Callers: slower, and the same functions.
func callers(pcs *uintptr, most int) int { return runtime.Callers(1, unsafe.Slice(pcs, most)) }
