// Package datafeed is kube-controllers' feed of the datastore, for its node controller
// without IP pools.
package datafeed

import (
	"context"
	"strings"

	apiv3 "github.com/projectcalico/api/pkg/apis/projectcalico/v3"
	"github.com/projectcalico/calico/kube-controllers/pkg/config"
	real "github.com/projectcalico/calico/kube-controllers/pkg/controllers/utils"
	bapi "github.com/projectcalico/calico/libcalico-go/lib/backend/api"
	"github.com/projectcalico/calico/libcalico-go/lib/backend/model"
	"github.com/projectcalico/calico/libcalico-go/lib/clientv3"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"ipamsim/sim/ipam/platform"
)

// DataFeed is upstream's.
type DataFeed = real.DataFeed

// fed is the client of a feed: for the node controller one to which there is no kind
// IPPool: it asks again every half hour (watchersyncer, MissingAPIRetryTime).
//
// The node controller wants pools for its Prometheus metrics alone, which are globals:
// the second controller of a process panics at the registration of the first
// pool, and two of them write to the same maps. Garbage collection never looks
// at them; what it releases is the same. Its IPAM client sees all pools.
func fed(c clientv3.Interface) clientv3.Interface {
	if !strings.Contains(platform.Current().Getenv(config.EnvEnabledControllers), "node") {
		return c
	}
	backend := c.(interface{ Backend() bapi.Client }).Backend()
	return feedClient{c, withoutPools{backend}}
}

type feedClient struct {
	clientv3.Interface
	backend bapi.Client
}

// Backend is all that a data feed uses of its client.
func (c feedClient) Backend() bapi.Client { return c.backend }

type withoutPools struct{ bapi.Client }

// List finds no kind IPPool. It is no message: nobody would send it.
func (c withoutPools) List(ctx context.Context, l model.ListInterface, rev string) (*model.KVPairList, error) {
	if r, ok := l.(model.ResourceListOptions); ok && r.Kind == apiv3.KindIPPool {
		return nil, apierrors.NewNotFound(schema.GroupResource{Resource: "ippools"}, "")
	}
	return c.Client.List(ctx, l, rev)
}
