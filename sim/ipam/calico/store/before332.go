//go:build !calico332

package store

import "github.com/projectcalico/calico/libcalico-go/lib/apiconfig"

// crdsOnly is a configuration as it is: up to 3.31 all clients use crd.projectcalico.org.
func crdsOnly(c apiconfig.CalicoAPIConfigSpec) apiconfig.CalicoAPIConfigSpec { return c }
