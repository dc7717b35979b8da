package calico

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/projectcalico/calico/libcalico-go/lib/backend/model"
	cnet "github.com/projectcalico/calico/libcalico-go/lib/net"
)

// Which errors calicoctl ipam check reports and which it does not: every case here is an error in
// the datastore, and it does not report half of them.
func TestCheckSees(t *testing.T) {
	block := cnet.MustParseCIDR("10.64.75.192/26")
	handle := model.IPAMHandleKey{HandleID: handleOf("web-0")}
	for _, c := range []struct {
		name     string
		damage   func(console)
		problems int
		says     string
	}{
		{"nothing is wrong", func(console) {}, 0,
			"Found 0 handles with no matching IPs (and 3 handles with matches)."},
		{"an address that nobody uses", func(w console) { w.assign("lost", "b") }, 1,
			"10.64.75.64 leaked; attrs Main:k8s-pod-network.sandbox-of-lost Extra:namespace=default,node=b,pod=lost"},
		{"a released address that a pod uses", func(w console) { w.unassign("web-2") }, 1,
			"10.64.75.194 in use by Workload(default/a-k8s-web--2-eth0) and in active IPAM pool but has no IPAM allocation."},
		{"an address of no pool", func(w console) { w.workload("alien", "a", "192.168.7.7") }, 1,
			"192.168.7.7 in use by Workload(default/a-k8s-alien-eth0) is not in any active IP pool."},
		{"a handle that is left over", func(w console) {
			w.store(model.IPAMHandleKey{HandleID: "left-over"}, &model.IPAMHandle{HandleID: "left-over", Block: map[string]int{block.String(): 1}})
		}, 1, "Found 1 handles with no matching IPs (and 3 handles with matches)."},
		{"a block that is gone", func(w console) { w.remove(model.BlockKey{CIDR: block}) }, 6,
			"Found 3 in-use IPs that are in active IP pools but have no corresponding IPAM allocation."},

		{"one address of two pods", func(w console) { w.workload("twin", "b", "10.64.75.192") }, 0,
			"10.64.75.192 has multiple owners."},
		{"a handle that is missing", func(w console) { w.remove(handle) }, 0,
			"k8s-pod-network.sandbox-of-web-0 is in use in a block but doesn't exist."},
		{"a handle that counts wrong", func(w console) {
			w.remove(handle)
			w.store(handle, &model.IPAMHandle{HandleID: handle.HandleID, Block: map[string]int{block.String(): 7, "10.64.75.0/26": 2}})
		}, 0, ""},
		{"a block inside of a block", func(w console) {
			small, owner := cnet.MustParseCIDR("10.64.75.208/28"), "host:b"
			w.store(model.BlockKey{CIDR: small}, &model.AllocationBlock{CIDR: small, Affinity: &owner, Allocations: make([]*int, 16), Unallocated: []int{0}, Attributes: []model.AllocationAttribute{}})
		}, 0, "Found 2 IPAM blocks."},
		{"a block without its affinity", func(w console) {
			w.remove(model.BlockAffinityKey{AffinityType: "host", Host: "a", CIDR: block})
		}, 0, ""},
		{"a block with an affinity to another node too", func(w console) {
			w.store(model.BlockAffinityKey{AffinityType: "host", Host: "b", CIDR: block}, &model.BlockAffinity{State: model.StateConfirmed})
		}, 0, ""},
		{"an affinity without a block", func(w console) {
			w.store(model.BlockAffinityKey{AffinityType: "host", Host: "b", CIDR: cnet.MustParseCIDR("10.64.75.0/26")}, &model.BlockAffinity{State: model.StateConfirmed})
		}, 0, ""},
	} {
		for _, ds := range datastores {
			t.Run(c.name+" "+ds, func(t *testing.T) {
				consolePlay(t, gcRun{datastore: ds}, func(_ context.Context, w console) {
					w.healthy()
					c.damage(w)
					out, err := w.in.Command(context.Background(), nil, strings.Fields("calicoctl ipam check --show-problem-ips"))
					n := 0
					if p := (interface{ Problems() int })(nil); errors.As(err, &p) {
						n = p.Problems()
					} else if err != nil {
						t.Error(err)
					}
					if n != c.problems || !strings.Contains(out, c.says) {
						t.Errorf("%d problems, want %d and %q in\n%s", n, c.problems, c.says, out)
					}
				})
			})
		}
	}
}

// Without the objects that calico-node and kube-controllers create when they start, ipam check
// fails, as in a real cluster. It has then no result.
func TestCheckGivesUp(t *testing.T) {
	for _, ds := range datastores {
		consolePlay(t, gcRun{datastore: ds}, func(_ context.Context, w console) {
			w.cluster("10.64.75.0/24", "a")
			_, err := w.in.Command(context.Background(), nil, strings.Fields("calicoctl ipam check"))
			var p interface{ Problems() int }
			if err == nil || errors.As(err, &p) || !strings.Contains(err.Error(), "resource does not exist: KubeControllersConfiguration(default)") {
				t.Errorf("%s: %v", ds, err)
			}
		})
	}
}

// Leaked addresses are written to a report and released from it. An address that was assigned
// again in between is not released.
func TestReleaseFromReport(t *testing.T) {
	for _, ds := range datastores {
		consolePlay(t, gcRun{datastore: ds}, func(_ context.Context, w console) {
			w.healthy()
			w.assign("lost-0", "b")
			w.assign("lost-1", "b")
			w.store(model.IPAMHandleKey{HandleID: "left-over"}, &model.IPAMHandle{HandleID: "left-over", Block: map[string]int{"10.64.75.64/26": 1}})
			w.expect("calicoctl ipam check -o first.json", "calicoctl ipam check found 3 problems")
			w.assign("lost-2", "b")
			w.expect("calicoctl ipam check -o second.json", "calicoctl ipam check found 4 problems")
			w.unassign("lost-1")

			w.expect("calicoctl ipam release --from-report=third.json", "open third.json: no such file or directory")
			w.expect("calicoctl ipam release --from-report=first.json", "data store is not locked. Either lock the data store, or re-run with --force")
			got := w.command("calicoctl ipam release --force --from-report=first.json --from-report=second.json")
			want := `WARNING: Data store is not locked. Ignoring due to --force option
Releasing 2 old IPs...
Released 1 IPs successfully
1 addresses marked as leaked in the report had already been cleaned up.
Deleting 1 handles...
Key: '.' = Deleted OK; 'x' = skip, handle missing/changed.
.
Released 1 handles; 0 skipped; 0 errors.
You may now unlock the data store.
`
			if got != want {
				t.Errorf("%s: got\n%swant\n%s", ds, got, want)
			}
			w.expect("calicoctl ipam check --show-problem-ips", "10.64.75.66 leaked", "calicoctl ipam check found 1 problems")
			w.expect("calicoctl ipam release --force --from-report=first.json", "Deleting 1 handles...", "\nx\n", "Released 0 handles; 1 skipped; 0 errors.")
		})
	}
}
