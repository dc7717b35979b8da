package std

import (
	"runtime"
	"strings"
)

const depthMax = 64

// Stack names the functions that the program is in, innermost first, up to its main
// function: without arguments, addresses and lines, which are of the machine that it
// is simulated on.
func Stack() []byte {
	pcs := make([]uintptr, depthMax)
	frames := runtime.CallersFrames(pcs[:runtime.Callers(2, pcs)])
	var out strings.Builder
	for {
		f, more := frames.Next()
		if strings.Contains(f.Function, "/platform.(*Program).Run") {
			return []byte(out.String())
		}
		if !strings.HasPrefix(f.Function, "runtime.") {
			out.WriteString(f.Function + "(...)\n")
		}
		if !more {
			return []byte(out.String())
		}
	}
}
