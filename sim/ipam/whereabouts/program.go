package whereabouts

import (
	"context"
	"fmt"
	_ "unsafe" // for linkname

	"k8s.io/client-go/rest"

	"ipamsim/sim"
	"ipamsim/sim/ipam/platform"
	"ipamsim/sim/ipam/whereabouts/adapter"
	_ "ipamsim/sim/ipam/whereabouts/upstream/cmd" // programs that are called by name
	_ "ipamsim/sim/ipam/whereabouts/upstream/cmd/controlloop"
	"ipamsim/sim/kube"
)

// pluginMain is the CNI plugin.
//
//go:linkname pluginMain ipamsim/sim/ipam/whereabouts/upstream/cmd.main
func pluginMain()

// machine is a process of the run.
type machine struct{ config *rest.Config }

var _ adapter.Machine = machine{}

// Config sets no rate limit, like all of upstream's manifests.
func (m machine) Config() *rest.Config { return m.config }

// reach is how a process talks to the API server.
func (i *instance) reach(g *sim.Gate) *rest.Config {
	c := kube.Config(i.env.API.Transport(g))
	c.QPS, c.Burst = 0, 0
	return c
}

// program prepares an execution of one of upstream's programs. A daemon has the environment
// variables of its manifest.
//
// Source: doc/crds/daemonset-install.yaml, node-slice-controller.yaml (v0.9.4).
func (i *instance) program(ctx context.Context, g *sim.Gate, name, node string) *platform.Program {
	p := &platform.Program{
		Name: name, Host: i.host(node), Ctx: ctx, Machine: machine{i.reach(g)},
		Env:   map[string]string{"NODENAME": node, "WHEREABOUTS_NAMESPACE": namespace},
		Crash: func(v any, _ string) { panic(v) },
	}
	if g != nil {
		p.Crash, p.Term = g.Crash, g.Term
	}
	return p
}

// installed are the files that upstream's installer writes on a node, under the paths of the host
// and under those where the daemons have them mounted.
//
// Source: script/lib.sh, generateWhereaboutsConf and generateNodeNameFile (v0.9.4).
func installed(node string) map[string][]byte {
	const folder = "/etc/cni/net.d/whereabouts.d"
	const conf = `{"datastore":"kubernetes","configuration_path":"` + folder + `","kubernetes":{"kubeconfig":"` + folder + `/whereabouts.kubeconfig"},"reconciler_cron_expression":"30 4 * * *"}`
	files := map[string][]byte{"/etc/hostname": []byte(node)}
	for _, under := range []string{"", "/host"} {
		files[under+folder+"/whereabouts.conf"] = []byte(conf)
		files[under+folder+"/nodename"] = []byte(node)
	}
	return files
}

// host is a node's machine.
func (i *instance) host(node string) *platform.Host {
	i.mu.Lock()
	defer i.mu.Unlock()
	h := i.hosts[node]
	if h == nil {
		h = platform.NewHost(installed(node))
		i.hosts[node] = h
	}
	return h
}

// ended is the error of a program that did not end well.
func ended(name string, e platform.Ended) error {
	if e.Code == 0 {
		return nil
	}
	return fmt.Errorf("%s: exit status %d", name, e.Code)
}
