//go:build tools

// Package tools holds what is built from this module.
package tools

import _ "go.universe.tf/metallb/controller"
