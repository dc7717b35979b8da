package whereabouts

import (
	_ "embed"
	"path"

	"ipamsim/sim/ipam"
)

// clientset is a folder of the generated clients; spelled out, so that it is another one in
// a release that has them elsewhere (copies.txt).
const clientset = "github.com/k8snetworkplumbingwg/whereabouts/pkg/generated/clientset"

//go:embed copies.txt
var copies string

// sources are upstream's module, its generated clients, and the copies of its packages here. Our
// replacements of its main functions (transcribed.txt) are not upstream's.
func sources() []ipam.Source {
	upstream := ipam.Source{Module: upstreamVersion(), Package: module, Root: root()}
	clients := upstream
	clients.Package, clients.Carries = path.Dir(clientset), true
	return append([]ipam.Source{upstream, clients}, ipam.CopiedHere(upstream, "ipamsim/sim/ipam/whereabouts", copies)...)
}
