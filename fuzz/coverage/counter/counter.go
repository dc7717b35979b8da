// Package counter is a table of empty functions. In a build for a fuzzer (-d=libfuzzer) each has a
// counter of its own, which a call increments. Go's fuzzer treats it as a place in the code.
//
// The package has no other code, so that instrumenting it alone counts nothing else. Instances of generic
// functions are shared by all packages that use them, so counters in a package with code would count
// what other packages do.
// Source: cmd/compile, edge in walk/order.go (Go 1.26).
package counter

//go:generate go run generate.go
