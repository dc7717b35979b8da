package ipam_test

import (
	"strings"
	"testing"

	"ipamsim/sim/disk"
	"ipamsim/sim/ipam/hostlocal"
)

// The second ADD of one container is refused, and takes no second address.
//
// Source: containernetworking/plugins #327, mended by #328.
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

// GC of CNI 1.1, with no attachment that is valid: host-local 1.9.0 has none. It says that
// it succeeded, and releases nothing, neither what names a container nor what names none.
//
// Source: containernetworking/plugins #1047.
func TestGC(t *testing.T) {
	n := &node{name: "node-a", subnet: "10.1.0.0/29", disk: disk.New(nil, "node-a")}
	config := []byte(strings.Replace(string(n.config()), "1.0.0", "1.1.0", 1))
	if _, err := hostlocal.Exec(t.Context(), nil, n.disk, hostlocal.Call{Command: "ADD", Container: "c", Interface: "eth0", Config: config}); err != nil {
		t.Fatal(err)
	}
	n.disk.Put(hostlocal.DataDir("pods")+"/10.1.0.5", nil)
	gc := []byte(strings.Replace(string(config), "{", `{"cni.dev/valid-attachments":[],`, 1))
	if _, err := hostlocal.Exec(t.Context(), nil, n.disk, hostlocal.Call{Command: "GC", Config: gc}); err != nil {
		t.Error(err)
	}
	if left := n.claims(t); len(left) != 2 || left[0].Torn || !left[1].Torn {
		t.Errorf("%v", left)
	}
}
