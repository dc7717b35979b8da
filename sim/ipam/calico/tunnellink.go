package calico

import (
	_ "unsafe" // for linkname

	felixconfig "github.com/projectcalico/calico/felix/config"
	"github.com/projectcalico/calico/libcalico-go/lib/apiconfig"
	bapi "github.com/projectcalico/calico/libcalico-go/lib/backend/api"
	"github.com/projectcalico/calico/libcalico-go/lib/clientv3"
	_ "github.com/projectcalico/calico/node/pkg/allocateip" // owns the functions below
)

// tunnelReconciler has the same fields as upstream's reconciler. Upstream creates that only in a
// function that keeps its syncer to itself, so that it could not be stopped. A test compares the
// fields.
//
// Source: node/pkg/allocateip/allocateip.go, reconciler and run (v3.31.0).
type tunnelReconciler struct {
	nodename       string
	cfg            *apiconfig.CalicoAPIConfig
	client         clientv3.Interface
	ch             chan struct{}
	data           map[string]any
	felixEnvConfig *felixconfig.Config
	inSync         bool
}

//go:linkname tunnelStatus github.com/projectcalico/calico/node/pkg/allocateip.(*reconciler).OnStatusUpdated
func tunnelStatus(r *tunnelReconciler, status bapi.SyncStatus)

//go:linkname tunnelUpdates github.com/projectcalico/calico/node/pkg/allocateip.(*reconciler).OnUpdates
func tunnelUpdates(r *tunnelReconciler, updates []bapi.Update)

//go:linkname tunnelHandle github.com/projectcalico/calico/node/pkg/allocateip.generateHandleAndAttributes
func tunnelHandle(node, kind string) (handle string, attributes map[string]string)
