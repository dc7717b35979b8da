//go:build calico330

package datafeed

import (
	real "github.com/projectcalico/calico/kube-controllers/pkg/controllers/utils"
	"github.com/projectcalico/calico/libcalico-go/lib/clientv3"
)

// NewDataFeed is upstream's; for the node controller without pools. Up to 3.30 it does not
// care which datastore it is.
func NewDataFeed(c clientv3.Interface) *DataFeed { return real.NewDataFeed(fed(c)) }
