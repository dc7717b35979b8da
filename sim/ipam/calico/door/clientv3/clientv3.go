// Package clientv3 gives a program its process's client of Calico's datastore.
package clientv3

import (
	"github.com/projectcalico/calico/libcalico-go/lib/apiconfig"
	real "github.com/projectcalico/calico/libcalico-go/lib/clientv3"

	"ipamsim/sim/ipam/calico/door"
)

// Interface is upstream's.
type Interface = real.Interface

// New is the process's client: upstream's own, over the datastore of the run.
func New(apiconfig.CalicoAPIConfig) (Interface, error) { return door.Here().Calico() }
