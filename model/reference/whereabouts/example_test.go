package whereabouts_test

import (
	"errors"
	"fmt"
	"net/netip"

	"ipamsim/model"
	"ipamsim/model/reference/whereabouts"
)

// The five addresses of a VMware knowledge base article (383841): range_start and range_end
// leave five addresses of a /27. A worker crashes, its pods get no DEL, and their replacements
// find no address.
func Example() {
	network, err := whereabouts.NewNetwork(model.Network{Key: "nstest/test", Overlap: true, Ranges: []model.Range{{
		Prefix: netip.MustParsePrefix("172.18.178.192/27"),
		Start:  netip.MustParseAddr("172.18.178.196"),
		End:    netip.MustParseAddr("172.18.178.200"),
	}}})
	if err != nil {
		fmt.Println(err)
		return
	}
	record := whereabouts.New()
	start := func(name, node string) {
		addrs, err := record.Add(network, whereabouts.Call{
			Node: node, Pod: model.PodRef{Namespace: "nstest", Name: name}, Container: "container of " + name, Interface: "net1",
		})
		if errors.Is(err, whereabouts.ErrExhausted) {
			fmt.Println(name, "does not start: no address is left")
			return
		}
		fmt.Println(name, "gets", addrs[0])
	}

	for i := range 3 {
		start(fmt.Sprint("app-", i), "worker-1")
	}
	for i := range 2 {
		start(fmt.Sprint("db-", i), "worker-2")
	}

	fmt.Println("worker-1 loses power: no DEL; the Deployment replaces its pods under new names")
	start("app-3", "worker-2")

	fmt.Println("a pass of the reconciler finds who is still there")
	var pods []whereabouts.Pod
	for name, ip := range map[string]string{"db-0": "172.18.178.199", "db-1": "172.18.178.200"} {
		pods = append(pods, whereabouts.Pod{Ref: model.PodRef{Namespace: "nstest", Name: name}, IPs: []string{ip}})
	}
	for _, c := range record.Reconcile(whereabouts.AddressInStatus, pods).Claims {
		fmt.Println("it frees", c.Addr, "of", c.Pod.Name)
	}
	start("app-3", "worker-2")

	// Output:
	// app-0 gets 172.18.178.196/27
	// app-1 gets 172.18.178.197/27
	// app-2 gets 172.18.178.198/27
	// db-0 gets 172.18.178.199/27
	// db-1 gets 172.18.178.200/27
	// worker-1 loses power: no DEL; the Deployment replaces its pods under new names
	// app-3 does not start: no address is left
	// a pass of the reconciler finds who is still there
	// it frees 172.18.178.196 of app-0
	// it frees 172.18.178.197 of app-1
	// it frees 172.18.178.198 of app-2
	// app-3 gets 172.18.178.196/27
}
