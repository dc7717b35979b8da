package kubeapi_test

import (
	"fmt"
	"testing"

	"ipamsim/sim/cluster/kubeapi"
	"ipamsim/sim/ipam"
)

// The manifest of a namespace may come after the objects in that namespace.
func TestWithNamespaces(t *testing.T) {
	objs := []ipam.Object{{Kind: "Pod", Namespace: "shop", Name: "web"}, {Kind: "Namespace", Name: "shop"}, {Kind: "Node", Name: "w1"}, {Kind: "Namespace", Name: "radio"}}
	var got []string
	for _, o := range kubeapi.WithNamespaces(objs, true) {
		got = append(got, o.Kind+" "+o.Name)
	}
	if want := "[Namespace default Namespace kube-system Namespace shop Namespace radio Pod web Node w1]"; fmt.Sprint(got) != want {
		t.Errorf("%v, want %s", got, want)
	}
	if objs[0].Kind != "Pod" {
		t.Error("the objects themselves were moved")
	}
}
