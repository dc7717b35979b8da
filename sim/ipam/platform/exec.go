package platform

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/containernetworking/cni/pkg/invoke"
	"github.com/containernetworking/cni/pkg/types"
	"github.com/containernetworking/cni/pkg/version"
)

// Exec starts the executables of a program: what CNI's own library asks of the
// operating system. A container runtime is a program that never runs itself.
type Exec struct {
	*version.PluginDecoder
	From *Program
}

var _ invoke.Exec = Exec{}

// variables are the environment variables of CNI. The library also passes the environment of the
// real process, which no simulated program has.
var variables = []string{"CNI_COMMAND", "CNI_CONTAINERID", "CNI_NETNS", "CNI_ARGS", "CNI_IFNAME", "CNI_PATH"}

// ExecPlugin executes a plugin and waits for it. The plugin inherits the environment of From. A
// plugin that another plugin has started outlives that one.
//
// Source: containernetworking/plugins, pkg/ipam/ipam.go, ExecAdd (v1.10.0), which
// passes context.TODO(); containernetworking/cni, pkg/invoke/raw_exec.go (v1.3.0), which kills one process.
func (e Exec) ExecPlugin(_ context.Context, name string, stdin []byte, environ []string) ([]byte, error) {
	from := e.From
	p := &Program{
		Name: name, Host: from.Host, Ctx: from.Ctx, Gate: from.Gate, Machine: from.Machine, Executables: from.Executables,
		Crash: from.Crash, Started: from.Started, Child: from.Child, Stdin: slices.Clone(stdin), Env: map[string]string{},
	}
	for _, kv := range environ {
		if name, value, _ := strings.Cut(kv, "="); slices.Contains(variables, name) {
			p.Env[name] = value
		}
	}
	command := p.Env["CNI_COMMAND"]
	maps.Copy(p.Env, from.Env)
	p.Env["CNI_COMMAND"] = command
	// Whether a program's network namespace is its caller's is a matter of the kernel.
	p.Env["CNI_NETNS_OVERRIDE"] = "true"
	var end Ended
	run := func() { end = p.Run(from.Executables[name]) }
	if from.Child != nil && !from.Runtime {
		from.Child(run)
	} else {
		run()
	}
	if from.Started != nil {
		from.Started(p, end)
	}
	if end.Code == 0 {
		return end.Stdout, nil
	}
	return nil, end.failed()
}

// failed is what CNI's library makes of a plugin's failure.
//
// Source: github.com/containernetworking/cni/pkg/invoke, raw_exec.go, pluginErr (v1.3.0).
func (e Ended) failed() error {
	var said types.Error
	if e.Crash != nil {
		said.Msg = fmt.Sprintf("netplugin failed: %q", fmt.Sprintf("panic: %v", e.Crash))
	} else if len(e.Stdout) == 0 {
		said.Msg = fmt.Sprintf("netplugin failed with no error message: exit status %d", e.Code)
	} else if err := json.Unmarshal(e.Stdout, &said); err != nil {
		said.Msg = fmt.Sprintf("netplugin failed but error parsing its diagnostic message %q: %v", string(e.Stdout), err)
	}
	return &said
}

// FindInPath finds an executable by its name: there is one path.
func (e Exec) FindInPath(name string, paths []string) (string, error) {
	if e.From.Executables[name] == nil {
		return "", fmt.Errorf("failed to find plugin %q in path %s", name, paths)
	}
	return name, nil
}
