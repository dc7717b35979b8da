// Package counter is a table of functions that do nothing. Built for a fuzzer
// (-d=libfuzzer), each has a counter of its own, which calling it turns up, and
// which Go's fuzzer takes for a place in the code.
//
// There is nothing else in the package, so that instrumenting it alone counts
// nothing else: instances of generic functions are shared by all packages that use
// them, so that counters in a package with code count what others do.
//
// Source: cmd/compile, edge in walk/order.go (Go 1.26).
package counter

//go:generate go run generate.go
