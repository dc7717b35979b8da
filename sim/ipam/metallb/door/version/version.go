// Package version is what the program says of itself in its log, which nobody reads.
package version

// Each is nothing.
func Version() string    { return "" }
func CommitHash() string { return "" }
func Branch() string     { return "" }
func GoString() string   { return "" }
func String() string     { return "" }
