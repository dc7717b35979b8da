package ipam

import (
	"context"
	"os"
	"runtime"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/tools/cache"

	"ipamsim/model"
	"ipamsim/sim"
)

// Here stands the test's own package for upstream's.
const here = "ipamsim/sim/ipam"

var (
	seen sim.Stack
	line int // of calls
)

//go:noinline
func record() {
	pcs := make([]uintptr, 64)
	seen = pcs[:runtime.Callers(1, pcs)]
}

//go:noinline
func calls(f func()) { _, _, line, _ = runtime.Caller(0); f() }

// names of the functions of a call site.
func names(c model.CallSite) (out []string) {
	for _, f := range c.Frames {
		out = append(out, f.Function)
	}
	return out
}

// TestCallSiteNames: functions are upstream's under upstream's names, and file and line
// those of the module, whether they are linked from there or from a copy.
func TestCallSiteNames(t *testing.T) {
	calls(record)
	for _, c := range []struct {
		name string
		all  []Source
		want []string
	}{
		{"nobody's", []Source{{Module: "github.com/a/up@v1", Package: "github.com/a/up"}}, nil},
		{"upstream's", []Source{{Module: "ipamsim/sim@v1", Package: "ipamsim/sim"}}, []string{here + ".record", here + ".calls", here + ".TestCallSiteNames"}},
		{"no more than a name", []Source{{Module: "ipamsim/sim@v1", Package: "ipamsim/s"}, {Module: "x@v1", Package: here + "/calico"}}, nil},
		{"a copy's", []Source{{Module: "github.com/a/up@v1", Package: "github.com/a/up/cni/pkg", Copied: here}, {Module: "github.com/a/up@v1", Package: "github.com/a/up"}},
			[]string{"github.com/a/up/cni/pkg.record", "github.com/a/up/cni/pkg.calls", "github.com/a/up/cni/pkg.TestCallSiteNames"}},
		{"only carriers: what was called", []Source{{Module: "ipamsim/sim@v1", Package: here, Carries: true}}, []string{here + ".TestCallSiteNames"}},
	} {
		if d := cmp.Diff(c.want, names(callSite(c.all, seen))); d != "" {
			t.Errorf("%s: -want +got:\n%s", c.name, d)
		}
	}
	at := callSite([]Source{{Module: "github.com/a/up@v1 => ../fork", Package: "github.com/a/up/cni/pkg", Copied: here}}, seen)
	if f := at.Frames[1]; at.Module != "github.com/a/up@v1 => ../fork" || f.File != "cni/pkg/callsite_test.go" || f.Line != line {
		t.Errorf("%s: %+v", at.Module, f)
	}
	if dir, err := os.Getwd(); err != nil || Root(here, record) != dir || Root("ipamsim", record) != strings.TrimSuffix(dir, "/sim/ipam") || Root("github.com/a/up", record) != "" {
		t.Errorf("%q, %q (%v)", Root(here, record), Root("ipamsim", record), err)
	}
	if c := callSite([]Source{{Module: here + "@v1", Package: here, Root: "/up"}}, seen); c.Root != "/up" {
		t.Errorf("root %q", c.Root)
	}
	if c := callSite(nil, nil); c.Known() {
		t.Error(c)
	}
}

// TestCrashSites: the line of a panic in a module that the manager uses is found wherever the
// module cache is, and whether the build kept its path or not.
func TestCrashSites(t *testing.T) {
	m := &Manager{Sources: []Source{{Module: "github.com/a/up@v1", Package: "github.com/a/up"}}}
	for _, c := range []struct {
		name, function, file, module, inside, root string
	}{
		{"the usual cache", "github.com/b/c/d.F", "/root/go/pkg/mod/github.com/b/c@v1.2.0/d/f.go", "github.com/b/c@v1.2.0", "d/f.go", "/root/go/pkg/mod/github.com/b/c@v1.2.0"},
		{"GOMODCACHE", "github.com/b/c/d.F", "/tmp/x/mod/github.com/b/c@v1.2.0/d/f.go", "github.com/b/c@v1.2.0", "d/f.go", "/tmp/x/mod/github.com/b/c@v1.2.0"},
		{"-trimpath", "github.com/b/c/d.F", "github.com/b/c@v1.2.0/d/f.go", "github.com/b/c@v1.2.0", "d/f.go", ""},
		{"the module's first package", "github.com/b/c.(*T).F", "/m/github.com/b/c@v1.2.0/f.go", "github.com/b/c@v1.2.0", "f.go", "/m/github.com/b/c@v1.2.0"},
		{"capitals", "github.com/B/cD/e.F", "/m/github.com/!b/c!d@v1.2.0/e/f.go", "github.com/B/cD@v1.2.0", "e/f.go", "/m/github.com/!b/c!d@v1.2.0"},
		{"the manager's", "github.com/a/up/pkg.F", "/m/github.com/a/up@v1/pkg/f.go", "github.com/a/up@v1", "pkg/f.go", ""},
		{"in no module", "github.com/b/c/d.F", "/src/d/f.go", "", "", ""},
		{"of another's folder", "github.com/b/c/d.F", "/m/github.com/x/c@v1.2.0/d/f.go", "", "", ""},
	} {
		site := CrashSites(m)("panic({0x1, 0x2})\n\t/go/src/runtime/panic.go:783 +0x1\n" + c.function + "(...)\n\t" + c.file + ":7 +0x1f\n")
		want := model.CallSite{}
		if c.module != "" {
			want = model.CallSite{Module: c.module, Root: c.root, Frames: []model.Frame{{Function: c.function, File: c.inside, Line: 7}}}
		}
		if d := cmp.Diff(want, site); d != "" {
			t.Errorf("%s: -want +got:\n%s", c.name, d)
		}
	}
}

// TestCallSiteOfInformers: a request of an informer is not attributed to upstream's code, unless
// the informer calls a function of upstream to make it.
func TestCallSiteOfInformers(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	var site, none model.CallSite
	r := cache.NewReflector(&cache.ListWatch{
		WatchFunc: func(v1.ListOptions) (watch.Interface, error) {
			defer cancel()
			record()
			site = callSite([]Source{{Module: here + "@v1", Package: here}}, seen)
			none = callSite([]Source{{Module: "github.com/a/up@v1", Package: "github.com/a/up"}}, seen)
			return watch.NewFake(), nil
		},
	}, &v1.PartialObjectMetadata{}, cache.NewStore(cache.MetaNamespaceKeyFunc), 0)
	r.Run(ctx.Done())
	if !site.Informer || len(site.Frames) < 2 || site.Frames[1].Function != here+".TestCallSiteOfInformers.func1" {
		t.Errorf("%v", site)
	}
	if none.String() != "an informer of client-go" {
		t.Errorf("%v", none)
	}
}
