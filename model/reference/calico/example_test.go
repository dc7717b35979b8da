package calico_test

import (
	"fmt"
	"net/netip"

	"ipamsim/model"
	"ipamsim/model/reference/calico"
)

// Wikimedia's staging cluster: a pool of four blocks. One of its two nodes was down for a while,
// and the other took over its pods and two more blocks than it needed. After the first came back,
// each held two. Two new nodes find no block left and borrow addresses from blocks whose owner
// blackholes them.
func Example() {
	a := calico.New(calico.Kubernetes)
	pool := calico.Pool{Name: "default-ipv4-ippool", Prefix: netip.MustParsePrefix("10.64.75.0/24"), BlockBits: 26}
	if err := a.CreatePool(pool); err != nil {
		fmt.Println(err)
	}
	for _, n := range []string{"kubestage1001", "kubestage1002", "kubestage1003"} {
		a.SetNode(n, nil)
	}
	add := func(node, pod string) netip.Addr {
		q := calico.Request{Node: node, Handle: "k8s-pod-network." + pod, Pod: model.PodRef{Namespace: "default", Name: pod}, V4: 1}
		got, err := a.Add(q)
		if err != nil {
			fmt.Println(pod, err)
			return netip.Addr{}
		}
		return got[0]
	}
	for i := range 65 {
		for _, n := range []string{"kubestage1001", "kubestage1002"} {
			if got := add(n, fmt.Sprintf("%s-%d", n, i)); i%64 == 0 {
				fmt.Printf("pod %d of %s has %s\n", i, n, got)
			}
		}
	}
	fmt.Println("web-3 on kubestage1003 has", add("kubestage1003", "web-3"))
	for _, b := range a.Snapshot().Pools {
		fmt.Printf("%s belongs to %s\n", b.Range, b.Node)
	}

	a.Config.Strict = true // too late for web-3, which keeps its address
	add("kubestage1003", "web-4")
	// Output:
	// pod 0 of kubestage1001 has 10.64.75.0
	// pod 0 of kubestage1002 has 10.64.75.64
	// pod 64 of kubestage1001 has 10.64.75.128
	// pod 64 of kubestage1002 has 10.64.75.192
	// web-3 on kubestage1003 has 10.64.75.129
	// 10.64.75.0/26 belongs to kubestage1001
	// 10.64.75.64/26 belongs to kubestage1002
	// 10.64.75.128/26 belongs to kubestage1001
	// 10.64.75.192/26 belongs to kubestage1002
	// web-4 no address is left
}
