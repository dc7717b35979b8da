package calico

import (
	_ "embed"

	"github.com/projectcalico/calico/libcalico-go/config"

	"ipamsim/sim/ipam"
)

//go:embed copies.txt
var copies string

// carriers are upstream's own clients of a datastore and of Calico's objects in it.
// Of the two datastores one is reached through upstream's, the other through an adapter of
// ours: without them a call has the same site on both.
var carriers = []string{"libcalico-go/lib/backend/etcdv3", "libcalico-go/lib/backend/k8s", "libcalico-go/lib/clientv3"}

// sources are upstream's module, its clients, and the copies of its packages here.
func sources() []ipam.Source {
	upstream := ipam.Source{Module: upstreamVersion(), Package: module, Root: ipam.Root(module, config.LoadCRD)}
	out := []ipam.Source{upstream}
	for _, c := range carriers {
		client := upstream
		client.Package, client.Carries = module+"/"+c, true
		out = append(out, client)
	}
	return append(out, ipam.CopiedHere(upstream, "ipamsim/sim/ipam/calico", copies)...)
}
