// Package version is what the plugin says of itself where somebody starts it by hand.
package version

// GetFullVersionWithRuntimeInfo is nothing: nobody does.
func GetFullVersionWithRuntimeInfo() string { return "" }
