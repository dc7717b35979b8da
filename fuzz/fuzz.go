// Package fuzz has the native targets of go test -fuzz, and the lists of known causes of the
// address managers.
package fuzz

import "embed"

// Known has the lists of known causes, for fuzz/known.
//
//go:embed testdata/known
var Known embed.FS
