package main

import (
	"bytes"
	"os"
	"strings"
	"testing"

	"ipamsim/cmd/cli"
	"ipamsim/cmd/controllers"
	"ipamsim/cmd/managers"
	"ipamsim/sim/ipam"
	"ipamsim/sim/ipam/calico"
	"ipamsim/sim/ipam/metallb"
	"ipamsim/sim/ipam/whereabouts"
)

// Tests of upstream versions are here: Go records the modules of a test binary only in package main.
func TestMain(m *testing.M) {
	controllers.Use()
	os.Exit(m.Run())
}

// The versions that sim/README.md states are those of this build.
func TestReadmeNumbers(t *testing.T) {
	text, err := os.ReadFile("../../sim/README.md")
	if err != nil {
		t.Fatal(err)
	}
	for name, upstream := range map[string]string{
		"Whereabouts": whereabouts.New().Upstream, "Calico": calico.New().Upstream, "MetalLB": metallb.New().Upstream,
		"Kubernetes": ipam.Upstream("k8s.io/kubernetes", nil), "etcd": ipam.Upstream("go.etcd.io/etcd/server/v3", nil),
	} {
		if _, version, ok := strings.Cut(upstream, "@v"); !ok || !strings.Contains(string(text), "| "+name+" "+version+":") {
			t.Errorf("sim/README.md does not say that %s is %q", name, upstream)
		}
	}
}

func TestVersion(t *testing.T) {
	var out, errs bytes.Buffer
	if code := cli.Run([]string{"version"}, &out, &errs, managers.All()...); code != 0 {
		t.Fatal(errs.String())
	}
	for _, module := range []string{"github.com/k8snetworkplumbingwg/whereabouts", "github.com/projectcalico/calico", "k8s.io/kubernetes", "go.etcd.io/etcd/server/v3"} {
		if _, after, ok := strings.Cut(out.String(), "\n"+module+" "); !ok || !strings.HasPrefix(strings.TrimLeft(after, " "), "v") {
			t.Errorf("no version of %s in\n%s", module, out.String())
		}
	}
}
