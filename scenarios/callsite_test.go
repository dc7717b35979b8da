package scenarios_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"ipamsim/reports"
	"ipamsim/scenarios"
	"ipamsim/sim"
	"ipamsim/sim/longtest"
)

// sites are the call sites of a run, a line a message.
func sites(rep *reports.Report) string {
	var b strings.Builder
	for _, s := range rep.Trace.Steps {
		c := rep.CallSite(s)
		fmt.Fprintf(&b, "%d %s %t", s.Step, c.Module, c.Informer)
		for _, f := range c.Frames {
			fmt.Fprintf(&b, " %s %s:%d", f.Function, f.File, f.Line)
		}
		b.WriteByte('\n')
	}
	return b.String()
}

const (
	ofWhereabouts = "github.com/k8snetworkplumbingwg/whereabouts/"
	ofCalico      = "github.com/projectcalico/calico/"
)

// TestCallSites: the read and the write that decide are those of upstream's source, by
// function, file and line.
func TestCallSites(t *testing.T) {
	r := runner(t)
	for _, c := range []struct {
		file   string
		step   int
		key    string   // what the message is about
		frames []string // innermost first
	}{
		// whereabouts#162: the reconciler asks twelve times for a pod that is still
		// Pending, and takes its address away.
		{"r1-whereabouts-162.yaml", 318, "GET pods/default/web-1", []string{
			"pkg/storage/kubernetes.(*Client).GetPod pkg/storage/kubernetes/client.go:113",
			"pkg/reconciler.ReconcileLooper.refreshPod pkg/reconciler/iploop.go:140",
			"pkg/reconciler.ReconcileLooper.isOrphanedIP pkg/reconciler/iploop.go:107",
		}},
		{"r1-whereabouts-162.yaml", 319, "PATCH ippools/kube-system/10.128.165.0-24", []string{
			"pkg/storage/kubernetes.(*KubernetesIPPool).Update pkg/storage/kubernetes/ipam.go:231",
			"pkg/reconciler.ReconcileLooper.ReconcileIPPools pkg/reconciler/iploop.go:200",
		}},
		// An ADD asks which blocks its node has, and claims one while another is claimed.
		{"found-calico-limit-race.yaml", 73, "List /calico/ipam/v2/host/worker-2/ipv4/block", []string{
			"libcalico-go/lib/ipam.blockReaderWriter.getAffineBlocks libcalico-go/lib/ipam/ipam_block_reader_writer.go:52",
			"libcalico-go/lib/ipam.ipamClient.prepareAffinityBlocksForHost libcalico-go/lib/ipam/ipam.go:410",
			"libcalico-go/lib/ipam.ipamClient.autoAssign libcalico-go/lib/ipam/ipam.go:708",
			"libcalico-go/lib/ipam.ipamClient.AutoAssign libcalico-go/lib/ipam/ipam.go:124",
			"cni-plugin/pkg/ipamplugin.cmdAdd.func2 cni-plugin/pkg/ipamplugin/ipam_plugin.go:315",
			"cni-plugin/pkg/ipamplugin.cmdAdd cni-plugin/pkg/ipamplugin/ipam_plugin.go:317",
			"cni-plugin/pkg/ipamplugin.Main cni-plugin/pkg/ipamplugin/ipam_plugin.go:114",
		}},
		{"found-calico-limit-race.yaml", 88, "Create /calico/ipam/v2/host/worker-2/ipv4/block/10.64.75.1-32", []string{
			"libcalico-go/lib/ipam.blockReaderWriter.getPendingAffinity libcalico-go/lib/ipam/ipam_block_reader_writer.go:180",
			"libcalico-go/lib/ipam.(*blockAssignState).findOrClaimBlock libcalico-go/lib/ipam/ipam.go:592",
		}},
	} {
		world := load(t, c.file)
		if c.file == "r1-whereabouts-162.yaml" {
			world = load162(t)
		}
		o := scenarios.Options{Store: scenarios.Memory}
		if strings.HasPrefix(c.file, "found-calico") {
			o.Datastore = "etcdv3"
		}
		rep := run(t, r, world, o)
		s := rep.Trace.Steps[c.step-1]
		site := rep.CallSite(s)
		var got []string
		for _, f := range site.Frames {
			// The text of it is there, too: of what is linked as it is and of what is copied.
			if _, err := os.Stat(filepath.Join(site.Root, f.File)); site.Root == "" || err != nil {
				t.Errorf("%s: %s in %q: %v", c.file, f.File, site.Root, err)
			}
			got = append(got, strings.TrimPrefix(strings.TrimPrefix(f.Function, ofWhereabouts), ofCalico)+fmt.Sprintf(" %s:%d", f.File, f.Line))
		}
		if s.Choice.Op.Key != c.key || len(got) < len(c.frames) || !slices.Equal(got[:len(c.frames)], c.frames) || rep.Upstream != site.Module {
			t.Errorf("%s: step %d, %s, of %s:\n%s", c.file, c.step, s.Choice.Op.Key, site.Module, strings.Join(got, "\n"))
		}
	}
}

// Several scenarios, of both managers and both of Calico's datastores.
var sited = []string{"r1-whereabouts-162.yaml", "found-calico-limit-race.yaml", "calico-5044-half-reported.yaml"}

// TestCallSitesRepeat: a call site is the same on both stores, and in another process.
func TestCallSitesRepeat(t *testing.T) {
	longtest.Skip(t)
	r := runner(t)
	var here strings.Builder
	for _, file := range sited {
		onEtcd := sites(run(t, r, load(t, file), scenarios.Options{}))
		inMemory := sites(run(t, r, load(t, file), scenarios.Options{Store: scenarios.Memory}))
		if onEtcd != inMemory || !strings.Contains(onEtcd, ".go:") {
			t.Errorf("%s: other call sites in memory than on etcd", file)
		}
		here.WriteString(inMemory)
	}
	child := exec.Command(os.Args[0], "-test.run", "^TestCallSitesChild$", "-test.v")
	child.Env = append(os.Environ(), callSitesChild+"=1", "GOMAXPROCS=1")
	out, err := child.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	if !strings.Contains(string(out), here.String()) {
		t.Error("another process has other call sites")
	}
}

const callSitesChild = "IPAMSIM_CALL_SITES_CHILD"

// TestCallSitesChild is the other process of TestCallSitesRepeat.
func TestCallSitesChild(t *testing.T) {
	if os.Getenv(callSitesChild) == "" {
		t.Skip("SKIP: it is TestCallSitesRepeat's")
	}
	r := runner(t)
	for _, file := range sited {
		os.Stdout.WriteString(sites(run(t, r, load(t, file), scenarios.Options{Store: scenarios.Memory})))
	}
}

// TestCallSitesAreOnEveryMessage: what a process of the address manager asks or writes has
// a call site, or it is an informer's; the cluster's own processes have none.
func TestCallSitesAreOnEveryMessage(t *testing.T) {
	r := runner(t)
	for _, file := range sited {
		rep := run(t, r, load(t, file), scenarios.Options{Store: scenarios.Memory})
		for _, s := range rep.Trace.Steps {
			op := s.Choice.Op
			theirs := slices.Contains(rep.Upstreams, op.Actor) && op.Kind != sim.Event && op.Kind != sim.Local
			if known := rep.CallSite(s).Known(); known != theirs && op.Actor.Kind() != "operator" {
				t.Errorf("%s: %s: known %v", file, s, known)
			}
		}
	}
}

// TestCallSitesAreNotPartOfARun: with them and without, a run is the same but for them.
// benchCallSites compares the two.
func TestCallSitesAreNotPartOfARun(t *testing.T) {
	r := runner(t)
	for _, file := range []string{"testdata/bench/calico-5-pods.yaml", "testdata/bench/whereabouts-5-pods.yaml"} {
		s := load(t, file)
		var reps [2]*reports.Report
		for i, siteless := range []bool{false, true} {
			reps[i] = run(t, r, s, scenarios.Options{Store: scenarios.Memory, Siteless: siteless})
			some := false
			for _, st := range reps[i].Trace.Steps {
				some = some || reps[i].CallSite(st).Known()
			}
			if some == siteless {
				t.Errorf("%s: call sites: %v, want %v", file, some, !siteless)
			}
		}
		if a, b := reps[0], reps[1]; a.Digest != b.Digest || a.StoreDigest != b.StoreDigest || len(a.Trace.Steps) != len(b.Trace.Steps) {
			t.Errorf("%s: digest %s and %s", file, a.Digest, b.Digest)
		}
	}
}
