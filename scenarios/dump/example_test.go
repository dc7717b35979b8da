package dump_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/netip"
	"os/exec"
	"strings"
	"testing"

	"ipamsim/scenarios"
	"ipamsim/scenarios/dump"
	"ipamsim/scenarios/dump/kept"
	"ipamsim/scenarios/dump/manifest"
	"ipamsim/scenarios/strict"
	"ipamsim/sim/ipam"
)

// lease is an object of a user's own manager: one address of one pod.
type lease struct {
	Address string `json:"address"`
	Pod     string `json:"pod"` // namespace/name
	Node    string `json:"node"`
}

// leases imports that manager's dumps: which objects to read, whose the dump is, which
// addresses are in use, which are a pod's own, and how the objects are written.
var leases = &dump.Importer{
	Title: "Leases", Sign: "Lease of example.org",
	Resources: []dump.Resource{{APIVersion: "example.org/v1", Plural: "leases", Kind: "Lease"}},
	Open: func(c *dump.Cluster) *dump.Reading {
		all := kept.Objects[lease]{}
		return &dump.Reading{
			Add: func(h *kept.Head, raw json.RawMessage) (bool, error) {
				var l lease
				if err := kept.SpecOf(raw, &l); err != nil {
					return false, err
				}
				if _, err := netip.ParseAddr(l.Address); err != nil {
					return false, h.Fail("spec.address", "%q is no address", l.Address)
				}
				return true, kept.Put(c.Store, all, h.Key(), h, l)
			},
			Found: func() bool { return len(all) > 0 },
			Draft: func(d *dump.Draft) (*dump.Record, error) {
				return &dump.Record{
					Claims: func() (out []dump.Claim) {
						for _, key := range all.Keys() {
							l := all[key].Value
							out = append(out, dump.Claim{Addr: netip.MustParseAddr(l.Address), Pod: l.Pod, Node: l.Node})
						}
						return out
					},
					Primary: func(p *kept.Pod, _ []dump.Claim) ([]netip.Addr, bool) { return kept.AddrsIn(p.IPs), false },
					Write: func(w *manifest.Writer) {
						for _, key := range all.Keys() {
							w.Manifest("example.org/v1", "Lease", manifest.Named(key), "spec", all[key].Value)
						}
					},
				}, nil
			},
		}
	},
}

const leaseDump = `apiVersion: v1
kind: List
items:
- {apiVersion: example.org/v1, kind: Lease, metadata: {name: a}, spec: {address: 10.0.0.1, pod: default/web-0, node: alpha}}
- {apiVersion: example.org/v1, kind: Lease, metadata: {name: b}, spec: {address: 10.0.0.2, pod: default/web-1, node: alpha}}
- {apiVersion: v1, kind: Node, metadata: {name: alpha}}
- {apiVersion: v1, kind: Pod, metadata: {name: web-0, namespace: default}, spec: {nodeName: alpha}, status: {phase: Running, podIP: 10.0.0.1}}
`

// A manager that this tree does not know is imported by a part of its own.
func ExampleImporter() {
	c := dump.New(scenarios.Managers{(&ipam.Manager{Name: "leases"}).With(leases)})
	if err := c.Read("dump.yaml", strings.NewReader(leaseDump), nil); err != nil {
		fmt.Println(err)
		return
	}
	c.Complete("v1", "Pod") // all pods were read: web-1 is gone
	text, report, err := c.Scenario(dump.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(report.Managers[0].Title, report.Nodes, "node", report.Pods, "pod", report.Claims, "addresses in use")
	for _, line := range strings.Split(string(text), "\n") {
		if strings.Contains(line, "ipam:") || strings.Contains(line, "10.0.0.") {
			fmt.Println(strings.TrimSpace(line))
		}
	}
	// Output:
	// Leases 1 node 1 pod 2 addresses in use
	// ipam: leases
	// spec: {"address":"10.0.0.1","pod":"default/web-0","node":"alpha"}
	// spec: {"address":"10.0.0.2","pod":"default/web-1","node":"alpha"}
	// status: {"phase":"Running","podIP":"10.0.0.1","podIPs":[{"ip":"10.0.0.1"}]}
}

// What a manager cannot do with a dump is refused in one line: names that it cannot
// replace must not get into what strangers see.
func TestImporterOfOnesOwn(t *testing.T) {
	m := (&ipam.Manager{Name: "leases"}).With(leases)
	for name, tt := range map[string]struct {
		text string
		o    dump.Options
		want string
	}{
		"anonymised":   {leaseDump, dump.Options{Anonymise: true}, "F: the names of a record of Leases cannot be replaced: import without --anonymise"},
		"nobody's":     {"apiVersion: v1\nkind: Node\nmetadata: {name: alpha}\n", dump.Options{}, "F: no Lease of example.org, only 1 Node: want the output of the command that ipamsim import --print-dump-command prints"},
		"an address":   {strings.Replace(leaseDump, "10.0.0.2", "ten", 1), dump.Options{}, `F:5: Lease b: spec.address: "ten" is no address`},
		"no such kind": {"metadata: {name: alpha}\n", dump.Options{}, "F:1: alpha: no apiVersion and kind: want the output of kubectl get -o yaml"},
	} {
		c := dump.New(scenarios.Managers{m})
		err := c.Read("F", strings.NewReader(tt.text), nil)
		if err == nil {
			_, _, err = c.Scenario(tt.o)
		}
		if bad := (*strict.Error)(nil); !errors.As(err, &bad) || err.Error() != tt.want {
			t.Errorf("%s: %v\nwant %s", name, err, tt.want)
		}
	}
}

// Who imports the dumps of a manager of their own links no other one.
func TestLinksNoManager(t *testing.T) {
	out, err := exec.Command("go", "list", "-deps", "ipamsim/scenarios/dump", "ipamsim/scenarios/dump/diagnosis", "ipamsim/scenarios/dump/live").Output()
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range strings.Fields(string(out)) {
		named := strings.Contains(p, "calico") || strings.Contains(p, "whereabouts")
		if named && !strings.HasPrefix(p, "ipamsim/model/reference/") { // calculations of ours
			t.Errorf("links %s", p)
		}
	}
}
