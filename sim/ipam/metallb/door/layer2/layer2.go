// Package layer2 is what a speaker announces: the controller starts none.
package layer2

import "k8s.io/apimachinery/pkg/util/sets"

// IPAdvertisement is one address that a speaker announces.
type IPAdvertisement struct{}

// IsAllInterfaces and GetInterfaces are of a speaker that is not there.
func (IPAdvertisement) IsAllInterfaces() bool           { return true }
func (IPAdvertisement) GetInterfaces() sets.Set[string] { return nil }
