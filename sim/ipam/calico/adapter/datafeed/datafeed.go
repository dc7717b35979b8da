// Package datafeed is kube-controllers' feed of the datastore without network policies, and for its
// node controller also without IP pools.
package datafeed

import (
	"context"
	"slices"
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

// fed is the client of a feed that hides some kinds: they do not exist for it, and it repeats the
// request every half hour (watchersyncer, MissingAPIRetryTime).
//
// Network policies, which are in the feed since 3.32, are for a controller that is switched off
// (onlyAddresses in package config).
//
// The node controller needs pools only for its Prometheus metrics, which are global variables: the
// second controller of a process panics when it registers the first pool, and two controllers write
// to the same maps. Garbage collection does not use pools, so it releases the same addresses. The
// controller's IPAM client sees all pools.
func fed(c clientv3.Interface) clientv3.Interface {
	hidden := []string{apiv3.KindNetworkPolicy, apiv3.KindGlobalNetworkPolicy, apiv3.KindStagedNetworkPolicy, apiv3.KindStagedGlobalNetworkPolicy}
	if strings.Contains(platform.Current().Getenv(config.EnvEnabledControllers), "node") {
		hidden = append(hidden, apiv3.KindIPPool)
	}
	backend := c.(interface{ Backend() bapi.Client }).Backend()
	return feedClient{c, without{backend, hidden}}
}

type feedClient struct {
	clientv3.Interface
	backend bapi.Client
}

// Backend is the only method of its client that a data feed uses.
func (c feedClient) Backend() bapi.Client { return c.backend }

// without is a datastore without some kinds.
type without struct {
	bapi.Client
	kinds []string
}

// List does not find a hidden kind. That is no message.
func (c without) List(ctx context.Context, l model.ListInterface, rev string) (*model.KVPairList, error) {
	if r, ok := l.(model.ResourceListOptions); ok && slices.Contains(c.kinds, r.Kind) {
		return nil, apierrors.NewNotFound(schema.GroupResource{Resource: strings.ToLower(r.Kind)}, "")
	}
	return c.Client.List(ctx, l, rev)
}
