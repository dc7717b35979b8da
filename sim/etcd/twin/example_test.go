package twin_test

import (
	"fmt"

	"ipamsim/sim/etcd"
	"ipamsim/sim/etcd/twin"
)

// Any bytes are a program, and every program does the same on both stores.
func ExamplePlay() {
	server, err := etcd.Start()
	if err != nil {
		panic(err)
	}
	defer server.Close()
	data := []byte{0, 2, 1, 0, 0, 0, 0, 3, 2, 0, 0, 0, 0, 0, 0, 0}
	fmt.Print(twin.Decode(data))
	fmt.Println(twin.Play(server, data))
	// Output:
	//   1 put "b/1"="x"
	//   2 get "b/1" at 0, by a cache that lags: false
	// <nil>
}
