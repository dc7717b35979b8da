// Package frrk8s is how speakers configure FRR: the controller starts none.
package frrk8s

import "ipamsim/sim/ipam/metallb/door/frrapi"

// ConfigName and ConfigToDump are of a configuration that is not there.
func ConfigName(string) string                             { return "" }
func ConfigToDump(frrapi.FRRConfiguration) (string, error) { return "", nil }
