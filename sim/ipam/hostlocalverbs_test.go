package ipam_test

import (
	"strings"
	"testing"

	"ipamsim/sim/disk"
	"ipamsim/sim/ipam/hostlocal"
)

// The second ADD of one container is refused, and takes no second address.
//
// Source: containernetworking/plugins #327, fixed by #328.
func TestAddTwice(t *testing.T) {
	n := &node{name: "node-a", subnet: "10.1.0.0/29", disk: disk.New(nil, "node-a")}
	call := hostlocal.Call{Command: "ADD", Container: "c", Interface: "eth0", Config: n.config()}
	if _, err := hostlocal.Exec(t.Context(), nil, n.disk, call); err != nil {
		t.Fatal(err)
	}
	_, err := hostlocal.Exec(t.Context(), nil, n.disk, call)
	if err == nil || !strings.Contains(err.Error(), "10.1.0.2 has been allocated to c, duplicate allocation is not allowed") || len(n.claims(t)) != 1 {
		t.Errorf("%v, %v", err, n.claims(t))
	}
}

// GC of CNI 1.1 releases the addresses that belong to no valid attachment, whether the file names a
// container or, being empty, none. Up to 1.9.0 it succeeded and released nothing.
//
// Source: containernetworking/plugins #1047, #1289.
func TestGC(t *testing.T) {
	n := &node{name: "node-a", subnet: "10.1.0.0/29", disk: disk.New(nil, "node-a")}
	config := []byte(strings.Replace(string(n.config()), "1.0.0", "1.1.0", 1))
	for _, c := range []string{"gone", "runs"} {
		if _, err := hostlocal.Exec(t.Context(), nil, n.disk, hostlocal.Call{Command: "ADD", Container: c, Interface: "eth0", Config: config}); err != nil {
			t.Fatal(err)
		}
	}
	n.disk.Put(hostlocal.DataDir("pods")+"/10.1.0.5", nil)
	gc := []byte(strings.Replace(string(config), "{", `{"cni.dev/valid-attachments":[{"containerID":"runs","ifname":"eth0"}],`, 1))
	if _, err := hostlocal.Exec(t.Context(), nil, n.disk, hostlocal.Call{Command: "GC", Config: gc}); err != nil {
		t.Error(err)
	}
	if left := n.claims(t); len(left) != 1 || left[0].Addr.String() != "10.1.0.3" {
		t.Errorf("%v", left)
	}
}
