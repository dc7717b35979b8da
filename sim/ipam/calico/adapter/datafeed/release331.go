//go:build !calico330

package datafeed

import (
	real "github.com/projectcalico/calico/kube-controllers/pkg/controllers/utils"
	"github.com/projectcalico/calico/libcalico-go/lib/clientv3"
)

// Etcdv3 is upstream's.
const Etcdv3 = real.Etcdv3

// NewDataFeed is upstream's; for the node controller without pools.
func NewDataFeed(c clientv3.Interface, datastore string) *DataFeed {
	return real.NewDataFeed(fed(c), datastore)
}
