package ipam

import (
	"context"
	"os"
	"runtime"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1"
	kuberuntime "k8s.io/apimachinery/pkg/runtime"
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
func look() {
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
	calls(look)
	for _, c := range []struct {
		name string
		all  []Source
		want []string
	}{
		{"nobody's", []Source{{Module: "github.com/a/up@v1", Package: "github.com/a/up"}}, nil},
		{"upstream's", []Source{{Module: "ipamsim/sim@v1", Package: "ipamsim/sim"}}, []string{here + ".look", here + ".calls", here + ".TestCallSiteNames"}},
		{"no more than a name", []Source{{Module: "ipamsim/sim@v1", Package: "ipamsim/s"}, {Module: "x@v1", Package: here + "/calico"}}, nil},
		{"a copy's", []Source{{Module: "github.com/a/up@v1", Package: "github.com/a/up/cni/pkg", Copied: here}, {Module: "github.com/a/up@v1", Package: "github.com/a/up"}},
			[]string{"github.com/a/up/cni/pkg.look", "github.com/a/up/cni/pkg.calls", "github.com/a/up/cni/pkg.TestCallSiteNames"}},
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
	if dir, err := os.Getwd(); err != nil || Root(here, look) != dir || Root("ipamsim", look) != strings.TrimSuffix(dir, "/sim/ipam") || Root("github.com/a/up", look) != "" {
		t.Errorf("%q, %q (%v)", Root(here, look), Root("ipamsim", look), err)
	}
	if c := callSite([]Source{{Module: here + "@v1", Package: here, Root: "/up"}}, seen); c.Root != "/up" {
		t.Errorf("root %q", c.Root)
	}
	if c := callSite(nil, nil); c.Known() {
		t.Error(c)
	}
}

// TestCallSiteOfInformers: what an informer asks, upstream has not asked; where it calls
// upstream's function to do so, that is said, too.
func TestCallSiteOfInformers(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	var site, none model.CallSite
	r := cache.NewReflector(&cache.ListWatch{
		ListFunc: func(v1.ListOptions) (kuberuntime.Object, error) {
			defer cancel()
			look()
			site = callSite([]Source{{Module: here + "@v1", Package: here}}, seen)
			none = callSite([]Source{{Module: "github.com/a/up@v1", Package: "github.com/a/up"}}, seen)
			return &v1.PartialObjectMetadataList{}, nil
		},
		WatchFunc: func(v1.ListOptions) (watch.Interface, error) { return watch.NewFake(), nil },
	}, &v1.PartialObjectMetadata{}, cache.NewStore(cache.MetaNamespaceKeyFunc), 0)
	r.Run(ctx.Done())
	if !site.Informer || len(site.Frames) < 2 || site.Frames[1].Function != here+".TestCallSiteOfInformers.func1" {
		t.Errorf("%v", site)
	}
	if none.String() != "an informer of client-go" {
		t.Errorf("%v", none)
	}
}
