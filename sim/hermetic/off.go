//go:build !hermetic

package hermetic

// Enabled reports whether the binary was built on the generated runtime.
const Enabled = false

// SetSeed does nothing on the stock runtime.
func SetSeed(uint64) {}

// SetStream does nothing on the stock runtime.
func SetStream([]byte) {}

// Pin does nothing on the stock runtime.
func Pin(bool) {}

// Foreign is 0 on the stock runtime: nothing is counted there.
func Foreign() uint64 { return 0 }

// SetProcess does nothing on the stock runtime: all goroutines of a bubble share
// its clock there, and die together.
func SetProcess(*Process) *Process { return nil }
