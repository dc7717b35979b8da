//go:build calico332

package calico

import (
	"github.com/projectcalico/calico/kube-controllers/pkg/config"
	"github.com/projectcalico/calico/kube-controllers/pkg/controllers/node"
	"github.com/projectcalico/calico/libcalico-go/lib/clientv3"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/cache"

	"ipamsim/sim/ipam/calico/adapter/kubevirt"
)

// ClientGo is the release of client-go that Calico is built with.
//
// Source: go.mod (v3.32.1).
const ClientGo = "0.35"

// newIPAMController is upstream's constructor, without virtual machines.
func newIPAMController(cfg config.NodeControllerConfig, c clientv3.Interface, k kubernetes.Interface, pods, nodes cache.Indexer) *node.IPAMController {
	return node.NewIPAMController(cfg, c, k, pods, nodes, &kubevirt.DeferredInformers{})
}
