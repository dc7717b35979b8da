// Package fuzz has the native targets of go test -fuzz, and the lists of the causes that are
// known of each address manager.
package fuzz

import "embed"

// Known are the lists of known causes, as fuzz/known reads them.
//
//go:embed testdata/known
var Known embed.FS
