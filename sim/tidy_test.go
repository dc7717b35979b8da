package sim_test

import (
	"bytes"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// The house rules, as tests over the whole module. Every complaint names file and line, the
// rule, and the fix. To change a rule, argue for it here and in the design; an exception is a
// line in allowed, with its reason.

// layers says which of our packages each package may import: arrows point down
// only. "x/..." is x and everything under it, "x/*" any folder directly under x.
var layers = []struct{ dir, may string }{
	{"model", ""},
	{"model/act", "model"},
	{"model/route/fib", ""}, // tables, and the walk through them
	{"model/route", "model model/route/fib"},
	{"model/metric", "model model/route"},
	{"model/recording", "model model/route"},
	{"model/invariant", "model model/route model/route/fib"},
	{"model/reference/*", "model"},
	{"model/capacity/workload", "model"},
	{"model/capacity", "model model/route model/metric model/capacity/workload"},
	{"model/capacity/*", "model model/capacity model/capacity/workload model/reference/*"}, // how a manager's reference is played
	{"sim/hermetic", ""},
	{"sim/hermetic/overlay", ""}, // runs before anything of ours can be built
	{"sim", "sim/hermetic"},
	{"sim/strategy", "sim"},
	{"sim/por", "sim"},
	{"sim/way", "sim"}, // names, for adapters and reports
	{"sim/scratch", ""},
	{"sim/gomod", ""},
	{"sim/longtest", ""}, // for tests
	{"sim/etcd/check", ""},
	{"sim/etcd", "sim sim/scratch sim/etcd/check"},
	{"sim/etcd/twin", "sim sim/etcd"},
	{"sim/etcd/etcdtest", "sim/etcd"},  // for tests
	{"sim/kube/exchange", "model/act"}, // a request and its answer, as data
	{"sim/kube/answer", "sim sim/way"},
	{"sim/kube", "sim sim/way sim/etcd sim/kube/answer sim/kube/early sim/kube/exchange"},
	{"sim/kube/early", ""},         // initialized before what it keeps is changed
	{"sim/kube/elect", ""},         // leader election
	{"sim/kube/front", "sim/kube"}, // what clients ask before they ask for objects
	{"sim/attach", "sim sim/kube sim/kube/front"},
	{"sim/controlplane/adapter/eviction", ""},
	{"sim/controlplane/upstream/podgc", "sim/controlplane/adapter/eviction"},
	{"sim/controlplane", "sim sim/hermetic sim/kube sim/kube/early sim/kube/elect sim/controlplane/upstream/podgc"},
	{"sim/ipam/fieldtest", "model/invariant"}, // for tests
	{"sim/ipam", "model model/act sim sim/etcd sim/kube sim/disk sim/local sim/cloud"},
	{"sim/disk", "model model/act sim sim/way"},
	{"sim/local", "model model/act sim sim/way"},
	{"sim/local/localgrpc", "model model/act sim sim/local"},
	{"sim/cloud", "model model/act sim sim/way"},
	{"sim/ipam/platform/...", "sim sim/disk sim/ipam/platform/..."},
	{"sim/ipam/hostlocal/upstream/...", "sim/ipam/platform/... sim/ipam/hostlocal/upstream/..."},
	{"sim/ipam/hostlocal", "model model/act model/reference/hostlocal sim sim/kube sim/disk sim/ipam sim/ipam/platform/... sim/ipam/hostlocal/..."},
	{"sim/ipam/calico/adapter/...", "sim/ipam/platform/... sim/ipam/calico/adapter/..."},
	{"sim/ipam/calico/upstream/cni/...", "sim/ipam/platform/... sim/ipam/calico/adapter/... sim/ipam/calico/upstream/cni/..."},
	{"sim/ipam/calico/upstream/kubecontrollers/...", "sim/ipam/platform/... sim/ipam/calico/adapter/... sim/ipam/calico/upstream/kubecontrollers/..."},
	{"sim/ipam/calico/store", "sim sim/way sim/etcd sim/kube sim/kube/answer sim/ipam"},
	{"sim/ipam/calico/record", "model model/act sim sim/etcd sim/kube sim/ipam sim/ipam/calico/store"},
	{"sim/ipam/calico/objects", "sim sim/kube sim/ipam sim/ipam/calico/store sim/ipam/calico/record"},
	{"sim/ipam/calico/ctl", "sim sim/hermetic sim/kube sim/ipam sim/ipam/calico/store"},                          // pins the wait for the terminal
	{"sim/ipam/calico/loadbalancer", "model model/act model/reference/calico sim/kube sim/ipam sim/ipam/calico"}, // its one process is Calico's
	{"sim/ipam/calico", "model model/act sim sim/hermetic sim/etcd sim/kube sim/ipam sim/ipam/platform/... sim/ipam/calico/..."},
	{"sim/ipam/metallb/adapter/...", "sim/ipam/platform/... sim/ipam/metallb/adapter/..."},
	{"sim/ipam/metallb/upstream/...", "sim/ipam/platform/... sim/ipam/metallb/adapter/... sim/ipam/metallb/upstream/..."},
	{"sim/ipam/metallb", "model model/act model/reference/metallb sim sim/hermetic sim/kube sim/ipam sim/ipam/platform/... sim/ipam/metallb/..."},
	{"sim/ipam/whereabouts/adapter/...", "sim/ipam/platform/... sim/ipam/whereabouts/adapter/..."},
	{"sim/ipam/whereabouts/upstream/...", "sim/ipam/platform/... sim/ipam/whereabouts/adapter/... sim/ipam/whereabouts/upstream/..."},
	{"sim/ipam/whereabouts", "model model/act model/reference/whereabouts sim sim/etcd sim/kube sim/ipam sim/ipam/platform/... sim/ipam/whereabouts/..."},
	{"sim/ipam/services", "model model/act sim sim/kube sim/ipam sim/ipam/kubeadm"},
	{"sim/ipam/nodeipam", "model model/act sim sim/kube sim/kube/elect sim/disk sim/ipam sim/ipam/hostlocal sim/ipam/kubeadm"},
	{"sim/ipam/*", "model model/act sim sim/etcd sim/kube sim/disk sim/local sim/cloud sim/ipam"},
	{"sim/cluster/kubeapi", "model sim sim/kube sim/ipam"},
	{"sim/cluster/control", "model sim sim/kube sim/cluster/kubeapi"}, // the interface of controllers: it knows neither implementation
	{"sim/cluster/control/real", "sim sim/kube sim/kube/elect sim/controlplane sim/cluster/kubeapi sim/cluster/control"},
	{"sim/cluster/control/*", "model sim sim/kube sim/cluster/kubeapi sim/cluster/control"},
	{"sim/cluster/multus", ""},
	{"sim/cluster/turns", ""},
	{"sim/cluster/cri", "sim sim/disk"},
	{"sim/cluster/backends", "sim sim/disk sim/local sim/cloud sim/ipam"},
	{"sim/cluster/recorder", "model model/recording model/route model/route/fib"},
	{"sim/cluster/checker", "model model/... sim sim/way sim/kube sim/kube/answer sim/ipam sim/cluster/kubeapi sim/cluster/recorder"},
	{"sim/cluster", "model model/... sim sim/etcd sim/kube sim/disk sim/cloud sim/ipam sim/ipam/interfaceplugin sim/cluster/kubeapi sim/cluster/control sim/cluster/control/simple sim/cluster/checker sim/cluster/multus sim/cluster/turns sim/cluster/backends sim/cluster/cri"},
	{"sim/cluster/clustertest", "sim/cluster sim/cluster/kubeapi"}, // for tests
	{"sim/cluster/action", "model model/route sim sim/disk sim/cloud sim/ipam sim/ipam/interfaceplugin sim/cluster sim/cluster/kubeapi"},
	{"sim/cluster/cron", "sim sim/cluster sim/cluster/kubeapi"},
	{"sim/cluster/hazard", "model sim sim/ipam sim/cluster sim/cluster/kubeapi sim/cluster/action sim/cluster/cron"},
	{"reports/visible", ""},
	{"reports/table", "reports/visible"},
	{"reports/prose", "model model/act sim sim/way reports/layout"},
	{"reports/layout", ""}, // what fits a line
	{"reports", "model model/... sim sim/kube/exchange reports/prose reports/visible reports/table reports/layout"},
	{"reports/storytest", "model model/... sim sim/kube/exchange reports"}, // for tests
	{"reports/timeline", "model model/... sim sim/kube/exchange reports reports/prose reports/layout"},
	{"reports/record", "model model/... sim reports reports/prose reports/layout reports/timeline"},
	{"reports/formats", "model model/... sim reports reports/visible reports/table reports/layout reports/timeline reports/record"},
	{"reports/bench", ""},                              // for benchmarks
	{"reports/trackrecord", ""},                        // what fails upstream, as data
	{"reports/golden", ""},                             // for tests
	{"reports/golden/testfiles", ""},                   // for tests
	{"reports/chart", "reports/visible reports/table"}, // gonum's plots as SVG and PNG
	{"reports/page", "model model/... sim reports reports/prose reports/layout reports/visible reports/record reports/timeline reports/trackrecord"},
	{"reports/page/browser", ""}, // headless Chromium, for tests
	{"reports/page/pagetest", "reports/page reports/page/browser reports/record"}, // for tests
	{"reports/index", "model model/... reports reports/chart reports/visible reports/trackrecord"},
	{"reports/sarifs", ""},
	{"reports/baseline", "model model/... reports reports/layout reports/sarifs reports/table"},
	{"reports/imported", "model model/... reports reports/sarifs"},
	{"reports/answer/words", ""}, // numbers, names and lists in sentences
	{"reports/answer", "model model/... reports reports/chart reports/answer/words reports/trackrecord"},
	{"reports/answer/render", "model model/capacity reports reports/chart reports/index reports/visible reports/table reports/answer reports/answer/words"}, // as people see it
	{"reports/answer/*", "model model/... reports/answer"},                                                                                                  // what is known of a manager
	{"scenarios/strict/stricttest", ""}, // for tests
	{"scenarios/strict", ""},            // how a file is read: bounds, lines, fields, suggestions
	{"scenarios", "model/... sim/... reports scenarios/strict"},
	{"scenarios/scenariotest", "scenarios"}, // for tests
	{"scenarios/plan/values", "model/capacity model/capacity/workload"},
	{"scenarios/plan/cost", "model model/capacity model/capacity/workload"},
	{"scenarios/plan", "model/... sim/... reports reports/answer scenarios scenarios/strict scenarios/plan/values scenarios/plan/cost"},
	{"scenarios/plan/kubeadm", "sim/cluster sim/ipam/kubeadm scenarios/plan"},                                       // a setting that is one of kubeadm's
	{"scenarios/plan/*", "model/... sim/... scenarios scenarios/plan scenarios/plan/values scenarios/plan/kubeadm"}, // what is known of a manager
	{"scenarios/remedy", "model/... sim/... reports reports/layout scenarios"},                                      // what to do, simulated before it is said
	{"scenarios/dump/decode", "scenarios/strict"},                                                                   // what people dump, object by object
	{"scenarios/dump/kept", "scenarios/strict scenarios/dump/decode"},                                               // of each object what matters
	{"scenarios/dump/unread", "reports/layout scenarios/strict scenarios/dump/decode"},                              // what could not be read
	{"scenarios/dump/alias", "scenarios/dump/kept"},                                                                 // names for strangers
	{"scenarios/dump/evidence", "scenarios/dump/decode scenarios/dump/kept"},                                        // what shows that a dump is complete
	{"scenarios/dump/resource", "scenarios/dump/kept scenarios/dump/evidence"},                                      // the kinds that are read
	{"scenarios/dump/origins", "model scenarios/dump/decode"},                                                       // where objects were read
	{"scenarios/dump/manifest", ""},                                                                                 // objects as text
	{"scenarios/dump/workload", "scenarios/dump/kept scenarios/dump/manifest"},                                      // what makes pods again
	{"scenarios/dump/unsupported", "model/invariant scenarios scenarios/dump/kept"},                                 // managers whose objects are not read
	{"scenarios/dump/reported", "model model/invariant scenarios/dump/kept"},                                        // what pods report themselves
	{"scenarios/dump", "model model/invariant sim/ipam reports/layout scenarios scenarios/strict scenarios/dump/decode scenarios/dump/kept scenarios/dump/evidence scenarios/dump/origins scenarios/dump/unread scenarios/dump/alias scenarios/dump/manifest scenarios/dump/workload scenarios/dump/reported scenarios/dump/resource scenarios/dump/unsupported scenarios/dump/iproute"},
	{"scenarios/dump/collect", "sim/ipam scenarios/dump scenarios/dump/decode"}, // the command that makes a dump
	{"scenarios/dump/diagnosis", "model/... sim/ipam reports reports/imported reports/layout scenarios scenarios/remedy scenarios/dump scenarios/dump/collect scenarios/dump/reported scenarios/dump/iproute"}, // what is wrong
	{"scenarios/dump/bundle", "sim/ipam scenarios/strict scenarios/dump scenarios/dump/decode scenarios/dump/unread scenarios/dump/iproute"},                                                                   // folders and archives
	{"scenarios/dump/iproute", "scenarios/dump/decode scenarios/dump/kept"},                                                                                                                                    // what ip route and ip addr print on a node
	{"scenarios/dump/dumptest/large", ""}, // for tests: dumps too large for testdata
	{"scenarios/dump/dumptest", "scenarios scenarios/strict scenarios/dump scenarios/dump/bundle"}, // for tests
	{"scenarios/calibrate/observe", "scenarios scenarios/strict scenarios/dump"},
	{"scenarios/calibrate/estimate", ""},
	{"scenarios/calibrate", "model model/capacity model/capacity/workload scenarios scenarios/strict scenarios/plan scenarios/plan/values scenarios/calibrate/... reports/visible reports/table"},
	{"scenarios/dump/live", "scenarios scenarios/strict scenarios/dump sim/ipam"},                                                  // a cluster that is asked instead of a file
	{"scenarios/dump/kubeadm", "sim/ipam/kubeadm scenarios/dump scenarios/dump/kept scenarios/dump/alias scenarios/dump/manifest"}, // what kubeadm has configured
	{"scenarios/dump/*/printed", "scenarios/strict scenarios/dump/decode"},
	{"scenarios/dump/*/selector", "scenarios/strict scenarios/dump/alias"},
	{"scenarios/dump/*/remedies", "model model/invariant reports scenarios scenarios/remedy scenarios/dump scenarios/dump/* sim/cluster sim/cluster/action"}, // of a manager's findings
	{"scenarios/dump/*", "model model/route model/invariant model/reference/metallb reports reports/imported reports/layout sim/cluster/action scenarios scenarios/strict scenarios/remedy scenarios/dump scenarios/dump/* scenarios/dump/*/printed scenarios/dump/*/selector"}, // a manager's
	{"fuzz/space", "model/... sim/... scenarios"},
	{"fuzz/space/calico/loadbalancer", "scenarios fuzz/space sim sim/cluster/action"},
	{"fuzz/space/*", "model/... sim/... scenarios fuzz/space fuzz/space/*"},
	{"fuzz/shape", "sim"},
	{"fuzz/coverage/counter", ""}, // instrumented, and nothing else of ours may be counted with it
	{"fuzz/coverage", "model/... sim/... reports fuzz/shape fuzz/coverage/counter"},
	{"fuzz/cause", "model/... sim reports"},
	{"fuzz/finding", "model/... sim/... reports reports/layout reports/timeline scenarios fuzz/cause"},
	{"fuzz/shrink/internal/*", "model/invariant sim reports"},
	{"fuzz/shrink", "model/... sim/... reports scenarios fuzz/cause fuzz/finding fuzz/shrink/internal/*"},
	{"fuzz/known", "fuzz fuzz/cause"},
	{"fuzz/confirm", "model/... sim/... reports scenarios fuzz/finding"},
	{"fuzz/settle", "model/... reports scenarios fuzz/cause fuzz/finding fuzz/known fuzz/shrink"},
	{"fuzz/linear", "model reports/visible"},
	{"fuzz/process", "model/invariant"},
	{"fuzz/versions", "model reports/baseline reports/layout reports/table"},
	{"fuzz/mutants/mutant", ""}, // copied into upstream's module, which knows nothing of ours
	{"fuzz/mutants", "reports/answer reports/baseline reports/table"},
	{"fuzz/verify/internal/touches", "model sim sim/por reports"},
	{"fuzz/verify", "fuzz/verify/internal/touches model sim sim/hermetic sim/kube sim/por sim/scratch sim/strategy reports scenarios fuzz/process"},
	{"fuzz/gate", "model/... sim/... reports reports/... scenarios scenarios/strict fuzz/..."},
	{"fuzz/input/*/internal/*", ""},
	{"fuzz/input/*", "model/... sim/... scenarios fuzz/input fuzz/input/*/internal/*"},
	{"fuzz/input", "model/... sim/... reports scenarios scenarios/strict fuzz/space"},
	{"fuzz/ipamsimtest", "model/... sim/... reports reports/timeline scenarios scenarios/strict scenarios/scenariotest fuzz/input fuzz/space fuzz/finding fuzz/shrink fuzz/coverage"}, // for authors' own repositories
	{"fuzz/campaign/queue", "model sim/ipam/canary reports scenarios fuzz/process fuzz/space fuzz/coverage fuzz/finding fuzz/shrink"},                                                 // what a coordinator and its workers share
	{"fuzz/campaign/worker", "model model/invariant sim sim/... reports reports/layout reports/record reports/page scenarios scenarios/strict scenarios/plan fuzz/process fuzz/cause fuzz/confirm fuzz/space fuzz/coverage fuzz/finding fuzz/shrink fuzz/linear fuzz/campaign/queue"},
	{"fuzz/campaign", "model/... sim/... reports reports/... scenarios fuzz/process fuzz/cause fuzz/coverage fuzz/finding fuzz/known fuzz/space fuzz/campaign/queue"},
	{"fuzz", "model/... sim/... reports scenarios fuzz/..."},
	{"cmd/hermetic", "sim/hermetic/overlay"},
	{"cmd/managers", "scenarios sim/ipam sim/ipam/* sim/ipam/*/loadbalancer sim/strategy scenarios/plan/* reports/answer/* fuzz/space/* fuzz/space/*/loadbalancer fuzz/input/* scenarios/dump/* scenarios/dump/*/remedies"}, // the list
	{"cmd/controllers", "scenarios sim/controlplane sim/cluster/control/real"},
	{"cmd/ipamsim", "cmd/cli cmd/controllers cmd/managers"},
	{"cmd/demo/*", "scenarios sim/ipam/* cmd/cli/exit cmd/cli/library cmd/controllers"},
	{"cmd/oracle", "sim/kube fuzz/space scenarios scenarios/strict cmd/controllers cmd/managers cmd/oracle/*"}, // the API server against upstream's own
	{"cmd/oracle/show", "cmd/oracle/upstream"},
	{"cmd/oracle/upstream", ""},
	{"cmd/oracle/replay", "cmd/oracle/upstream"}, // recordings, and upstream's own server
	{"cmd/cli/exit", "reports scenarios/strict"}, // how a command ends
	{"cmd/cli/outfile", ""},
	{"cmd/cli/reference", "scenarios/strict"},
	{"cmd/release", ""}, // a module of its own: it completes a release
	{"cmd/cli/infile", "reports scenarios/dump scenarios/strict"},
	{"cmd/cli/terminal", ""},
	{"cmd/cli/running", "scenarios cmd/cli/exit"},
	{"cmd/cli/workers", "reports reports/layout scenarios fuzz/campaign fuzz/campaign/* cmd/cli/exit cmd/cli/terminal"},
	{"cmd/cli/*", "model/... sim/... reports reports/... scenarios/... fuzz/... cmd/cli/exit cmd/cli/outfile cmd/cli/infile cmd/cli/terminal cmd/cli/running cmd/cli/workers"}, // commands
	{"cmd/cli", "model/... sim/... reports reports/... scenarios/... fuzz/... cmd/cli/*"},
	{"cmd/*", "model/... sim/... reports reports/... scenarios/... fuzz/..."},
	{"cmd/calico/lab/netns", "model/route/fib"},
	{"cmd/calico/lab", "model model/route model/route/fib cmd/calico/lab/netns"}, // real BIRD against the model of routes
}

// modules says who may import what of others. The first entry that fits an
// import path decides; what fits none is free. A folder with _test at its end is its tests alone.
var modules = []struct{ prefix, may, fix string }{
	// The tests of fuzz/space hold the spaces against upstream's types.
	{"github.com/k8snetworkplumbingwg/whereabouts", "sim/ipam/* sim/ipam/whereabouts/... fuzz/space_test", "upstream types never leave sim/ipam/NAME"},
	// The lab executes confd's templates for real BIRD: no simulation comes near it.
	{"go.universe.tf/metallb", "sim/ipam/* sim/ipam/metallb/... fuzz/space_test", "upstream types never leave sim/ipam/NAME"},
	{"github.com/projectcalico", "sim/ipam/* sim/ipam/calico/... cmd/calico/lab fuzz/space_test", "upstream types never leave sim/ipam/NAME"},
	{"github.com/nats-io/", "fuzz/campaign fuzz/campaign/*", "how work travels is the campaign's affair"},
	// The oracle empties the etcd of a real kube-apiserver between two runs.
	{"go.etcd.io/", "sim/etcd sim/etcd/check sim/etcd/twin sim/kube cmd/oracle cmd/oracle/*", "etcd types never leave sim/etcd and sim/kube"},
	// Upstream's own order of blocks is this generator, seeded by a host's name.
	{"math/rand", "sim/strategy sim/por fuzz/space model/reference/calico model/capacity/workload scenarios/calibrate/...", "nothing is random but the schedule: ask sim.Gate.Draw, or let the strategy choose"},
	{"crypto/rand", "fuzz/campaign fuzz/campaign/queue sim/attach sim/scratch", "nothing is random but the schedule: ask sim.Gate.Draw"},
	{"log", "sim/attach", "library code returns or records; only cmd prints"},
	{"github.com/sirupsen/logrus", "sim/ipam/* sim/ipam/calico/adapter/... cmd/* cmd/calico/lab/...", "library code returns or records; only cmd prints"},
	{"k8s.io/klog", "sim/kube sim/ipam/* sim/ipam/whereabouts/adapter/... cmd/*", "library code returns or records; only cmd prints"},
}

// pure packages import nothing but the standard library and ours.
var pure = "model model/act model/capacity model/capacity/* model/recording model/invariant model/metric model/route model/route/fib model/reference/* sim sim/strategy sim/hermetic sim/hermetic/overlay sim/scratch cmd/hermetic"

// allowed lists the exceptions: which rule does not hold where, and why.
var allowed = []struct{ rule, dirs, why string }{
	{"goroutine", "sim", "the kernel: one goroutine for the bubble, one an actor, the workers outside"},
	{"goroutine", "sim/etcd", "the server and its housekeeping outside the bubble"},
	{"goroutine", "sim/etcd/twin", "whoever reads a watch is one, in a bubble"},
	{"goroutine", "sim/kube", "serving an HTTP request is a goroutine of the API server, inside the bubble"},
	{"goroutine", "sim/ipam/* sim/ipam/calico/store sim/controlplane sim/kube/elect", "a daemon's informers and workers are goroutines of its process"},
	{"goroutine", "sim/attach", "the server outside of the bubble, and inside one for each watch of somebody who looks"},
	{"goroutine", "sim/local", "a caller waits for its answer while the call is under way, as a goroutine of its process"},
	{"goroutine", "sim/ipam/calico/adapter/config", "goroutines of the process that it adapts"},
	{"goroutine", "fuzz fuzz/* fuzz/campaign/* cmd/* cmd/cli/* cmd/oracle/* cmd/calico/lab/...", "workers outside every bubble"},
	{"clock", "sim sim/etcd sim/etcd/twin sim/kube sim/kube/answer sim/controlplane sim/disk sim/local sim/local/localgrpc sim/cloud sim/ipam/* sim/ipam/calico/objects sim/ipam/calico/adapter/config sim/cluster sim/cluster/...", "inside the bubble the clock is virtual"},
	{"clock", "sim/attach", "certificates and a watchdog's beat, outside of the bubble"},
	{"clock", "scenarios fuzz fuzz/* fuzz/campaign/*", "wall seconds of a run, for people"},
	{"clock", "scenarios/dump/live", "a busy API server is left alone for a while"},
	{"clock", "cmd/* cmd/cli/* cmd/demo/* cmd/oracle/* cmd/calico/lab/...", "progress on a terminal"},
	{"print", "cmd/* cmd/cli/* cmd/demo/* cmd/oracle/* cmd/calico/lab/...", "only cmd prints"},
	{"print", "sim/etcd", "the last words of an etcd that ends the process"},
	{"pure github.com/gaissmai/bart", "model/route/fib", "longest-prefix match is no place for an invention, and the library is as pure as we are"},
	{"print", "sim/ipam/calico/ctl", "calicoctl prints to os.Stdout, which is exchanged for a file while it runs"},
	{"process", "cmd/* cmd/cli/* cmd/demo/* cmd/oracle/* cmd/calico/lab/...", "main functions, and what they are made of"},
	{"process", "scenarios", "Tune, which main functions call"},
	{"print", "fuzz/process", "the last words of a worker process that can do no run"},
	{"process", "fuzz/process", "a worker process that can do no run ends"},
	{"process", "fuzz/campaign/worker", "the worker process, which has no other purpose: frugal"},
	{"process", "sim/ipam/calico", "upstream's configuration reads the environment past every adapter: set when its controller starts, in a program that has Calico"},
	{proseRule, "cmd/fork", "Text is a comment of a Go file there"},
}

var topLevel = strings.Fields("sim model scenarios fuzz reports cmd go.mod go.sum Makefile README.md ARCHITECTURE.md CHANGELOG.md CONTRIBUTING.md HACKING.md SECURITY.md VERSIONING.md LICENSE NOTICE bin dist bench.json findings answers")

const (
	fileLinesMax     = 500
	functionLinesMax = 70
)

// matches reports whether dir fits one of the patterns of a list as in layers.
func matches(list, dir string) bool {
	return slices.ContainsFunc(strings.Fields(list), func(p string) bool {
		if under, ok := strings.CutSuffix(p, "/..."); ok {
			return dir == under || strings.HasPrefix(dir, under+"/")
		}
		ok, _ := path.Match(p, dir)
		return ok
	})
}

func allows(rule, dir string) bool {
	for _, a := range allowed {
		if a.rule == rule && matches(a.dirs, dir) {
			return true
		}
	}
	return false
}

// house checks one file of the module.
type house struct {
	fset       *token.FileSet
	file       *ast.File
	path, dir  string
	test       bool
	complaints []string
}

func tidy(name string, src []byte) []string {
	h := &house{fset: token.NewFileSet(), path: name, dir: path.Dir(name), test: strings.HasSuffix(name, "_test.go")}
	var err error
	if h.file, err = parser.ParseFile(h.fset, name, src, 0); err != nil {
		return []string{fmt.Sprintf("%v: syntax: a file that Go cannot read", err)}
	}
	h.names()
	h.imports()
	if !h.test {
		h.sizes(src)
		ast.Inspect(h.file, h.node)
		h.prose()
	}
	return h.complaints
}

func (h *house) complain(at token.Pos, rule, format string, args ...any) {
	h.complaints = append(h.complaints, fmt.Sprintf("%s:%d: %s: %s", h.path, h.fset.Position(at).Line, rule, fmt.Sprintf(format, args...)))
}

func (h *house) names() {
	const catchAlls = "util utils common helper helpers misc shared types base"
	pkg := strings.TrimSuffix(h.file.Name.Name, "_test")
	stem := strings.TrimSuffix(strings.TrimSuffix(path.Base(h.path), ".go"), "_test")
	for _, n := range []string{pkg, stem} {
		if slices.Contains(strings.Fields(catchAlls), n) {
			h.complain(h.file.Package, "name", "%q says nothing; name it after the one thing it holds", n)
		}
	}
}

// imports checks layers, which tests may break, and modules, which no file may.
func (h *house) imports() {
	i := slices.IndexFunc(layers, func(l struct{ dir, may string }) bool { return matches(l.dir, h.dir) })
	if i < 0 {
		h.complain(h.file.Package, "layer", "package %s is not in layers (sim/tidy_test.go); add it where its imports allow, and to sim/README.md, The folders", h.dir)
		return
	}
	for _, spec := range h.file.Imports {
		p, _ := strconv.Unquote(spec.Path.Value)
		ours, isOurs := strings.CutPrefix(p, "ipamsim/")
		external := !isOurs && strings.Contains(strings.Split(p, "/")[0], ".")
		switch {
		case isOurs && !h.test && !matches(layers[i].may, ours):
			h.complain(spec.Pos(), "layer", "%s may not import %s, only [%s]; pass it in from above", h.dir, ours, layers[i].may)
		case external && !h.test && matches(pure, h.dir) && !allows("pure "+p, h.dir):
			h.complain(spec.Pos(), "pure", "%s may not import %s; only the standard library belongs here", h.dir, p)
		}
		h.module(spec, p)
	}
}

func (h *house) module(spec *ast.ImportSpec, p string) {
	for _, m := range modules {
		if p != m.prefix && !strings.HasPrefix(p, strings.TrimSuffix(m.prefix, "/")+"/") {
			continue
		}
		upstream := strings.Contains(m.prefix, ".")
		if !matches(m.may, h.dir) && !(h.test && matches(m.may, h.dir+"_test")) && (upstream || !h.test && !allows("print", h.dir)) {
			h.complain(spec.Pos(), "module", "%s may not import %s: %s", h.dir, p, m.fix)
		}
		return
	}
}

func (h *house) sizes(src []byte) {
	if n := strings.Count(string(src), "\n"); n > fileLinesMax {
		h.complain(h.file.End(), "size", "%d lines, at most %d; one thing per file", n, fileLinesMax)
	}
	for _, d := range h.file.Decls {
		f, ok := d.(*ast.FuncDecl)
		if !ok {
			continue
		}
		if n := h.fset.Position(f.End()).Line - h.fset.Position(f.Pos()).Line + 1; n > functionLinesMax {
			h.complain(f.Pos(), "size", "func %s has %d lines, at most %d; split it where its paragraphs are", f.Name.Name, n, functionLinesMax)
		}
	}
}

// forbidden are the names of other packages that need an exception.
var forbidden = map[string][]struct{ rule, names, fix string }{
	"time": {{"clock", "Now Sleep After AfterFunc NewTimer NewTicker Tick Since Until", "only code inside the bubble may look at the clock; take the time as an argument"}},
	"fmt":  {{"print", "Print Printf Println", "library code returns or records; only cmd prints"}},
	"os": {
		{"print", "Stdout Stderr Exit", "library code returns or records; only cmd prints and exits"},
		{"process", "Setenv Unsetenv Clearenv Chdir", processFix},
	},
	"runtime":       {{"process", "GOMAXPROCS", processFix}},
	"runtime/debug": {{"process", "SetGCPercent SetMemoryLimit SetMaxStack SetMaxThreads", processFix}},
}

const processFix = "a library leaves the process as it is: it may be somebody's test binary; settings belong to main functions"

func (h *house) node(n ast.Node) bool {
	switch n := n.(type) {
	case *ast.GoStmt:
		if !allows("goroutine", h.dir) {
			h.complain(n.Pos(), "goroutine", "a bare go statement is invisible to the schedule; use sim.World.Spawn")
		}
	case *ast.CallExpr:
		if id, ok := n.Fun.(*ast.Ident); ok && (id.Name == "print" || id.Name == "println") && id.Obj == nil {
			h.complain(n.Pos(), "print", "%s is for debugging; remove it", id.Name)
		}
	case *ast.SelectorExpr:
		id, ok := n.X.(*ast.Ident)
		if !ok || id.Obj != nil {
			break
		}
		for _, f := range forbidden[h.imported(id.Name)] {
			if slices.Contains(strings.Fields(f.names), n.Sel.Name) && !allows(f.rule, h.dir) {
				h.complain(n.Pos(), f.rule, "%s.%s: %s", id.Name, n.Sel.Name, f.fix)
			}
		}
	}
	return true
}

// imported is the path that a name stands for in this file.
func (h *house) imported(name string) string {
	for _, spec := range h.file.Imports {
		p, _ := strconv.Unquote(spec.Path.Value)
		if spec.Name != nil && spec.Name.Name == name || spec.Name == nil && path.Base(p) == name {
			return p
		}
	}
	return ""
}

// root is the module's folder.
func root(t *testing.T) fs.FS {
	t.Helper()
	if _, err := os.Stat("../go.mod"); err != nil {
		t.Fatal(err)
	}
	abs, err := filepath.Abs("..")
	if err != nil {
		t.Fatal(err)
	}
	return os.DirFS(abs)
}

// copyOfUpstream begins the files that cmd/fork makes.
const copyOfUpstream = "// Code generated by cmd/fork from "

func TestTidy(t *testing.T) {
	module, files := root(t), 0
	err := fs.WalkDir(module, ".", func(name string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && (name == "bin" || d.Name() == "testdata" || name != "." && strings.HasPrefix(d.Name(), ".")):
			return fs.SkipDir
		case d.IsDir() || !strings.HasSuffix(name, ".go"):
			return nil
		}
		files++
		src, err := fs.ReadFile(module, name)
		if bytes.HasPrefix(src, []byte(copyOfUpstream)) {
			return err // cmd/fork sees to it that it is one
		}
		for _, c := range tidy(name, src) {
			t.Error(c)
		}
		return err
	})
	if err != nil || files < 20 {
		t.Errorf("walked %d files: %v", files, err)
	}
}

func TestTidyTopLevel(t *testing.T) {
	entries, err := fs.ReadDir(root(t), ".")
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if n := e.Name(); !strings.HasPrefix(n, ".") && !slices.Contains(topLevel, n) {
			t.Errorf("%s: top level: only %v belong there; move it to its room", n, topLevel)
		}
	}
}

// Every scenario has its golden outcome beside it, and every golden its scenario.
func TestTidyGoldens(t *testing.T) {
	module := root(t)
	yamls, _ := fs.Glob(module, "scenarios/*.yaml")
	goldens, _ := fs.Glob(module, "scenarios/*.golden")
	if len(yamls) == 0 {
		t.Skip("no scenario yet")
	}
	for _, y := range yamls {
		if g := strings.TrimSuffix(y, ".yaml") + ".golden"; !slices.Contains(goldens, g) {
			t.Errorf("%s: golden: no %s; run the golden test with -update and read it", y, g)
		}
	}
	for _, g := range goldens {
		if y := strings.TrimSuffix(g, ".golden") + ".yaml"; !slices.Contains(yamls, y) {
			t.Errorf("%s: golden: no %s; remove the orphan", g, y)
		}
	}
}

// An oracle that was never red proves nothing: every invariant is the key of a
// bug of the canary, or stands in a golden.
func TestTidyInvariantsHaveBeenRed(t *testing.T) {
	module := root(t)
	declared := literals(t, module, "model/invariant/*.go", func(n ast.Node) ast.Expr {
		if kv, ok := n.(*ast.KeyValueExpr); ok {
			if k, ok := kv.Key.(*ast.Ident); ok && k.Name == "Name" {
				return kv.Value
			}
		}
		return nil
	})
	if len(declared) == 0 {
		t.Skip("no invariant yet")
	}
	bugs := literals(t, module, "sim/ipam/canary/bugs.go", func(n ast.Node) ast.Expr {
		if kv, ok := n.(*ast.KeyValueExpr); ok {
			return kv.Key
		}
		return nil
	})
	var goldens strings.Builder
	files, _ := fs.Glob(module, "scenarios/*.golden")
	for _, f := range files {
		b, err := fs.ReadFile(module, f)
		if err != nil {
			t.Fatal(err)
		}
		goldens.Write(b)
	}
	for _, name := range declared {
		if !slices.Contains(bugs, name) && !strings.Contains(goldens.String(), name) {
			t.Errorf("model/invariant: %s: never red; give the canary a bug that makes it fire", name)
		}
	}
}

// literals collects the strings that pick finds in the non-test files.
func literals(t *testing.T, module fs.FS, glob string, pick func(ast.Node) ast.Expr) (found []string) {
	t.Helper()
	files, _ := fs.Glob(module, glob)
	for _, f := range files {
		if strings.HasSuffix(f, "_test.go") {
			continue
		}
		src, err := fs.ReadFile(module, f)
		if err != nil {
			t.Fatal(err)
		}
		file, err := parser.ParseFile(token.NewFileSet(), f, src, 0)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(file, func(n ast.Node) bool {
			if lit, ok := pick(n).(*ast.BasicLit); ok && lit.Kind == token.STRING {
				s, _ := strconv.Unquote(lit.Value)
				found = append(found, s)
			}
			return true
		})
	}
	return found
}
