package cluster_test

import (
	"context"
	"errors"
	"io/fs"
	"slices"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"ipamsim/sim"
	"ipamsim/sim/cloud"
	"ipamsim/sim/cluster"
	"ipamsim/sim/cluster/action"
	"ipamsim/sim/ipam"
)

// keeper is the canary, which notes each ADD in a file of the node and then asks the
// cloud, as a manager with both backends does.
type keeper struct {
	manager  *ipam.Manager
	backends ipam.Backends
	cloud    *cloud.Cloud
	first    string // the file of the first ADD
}

func (k *keeper) open(env ipam.Env) (ipam.Instance, error) {
	k.backends = env.Backends
	k.cloud = env.Cloud(cloud.Options{Name: "ec2", Operations: map[string]cloud.Operation{
		"describe": {Reads: true, Handle: func(*cloud.Call) (any, error) { return nil, nil }},
	}})
	inst, err := k.manager.Open(env)
	add := inst.Add
	inst.Add = func(ctx context.Context, g *sim.Gate, call ipam.Call) (ipam.Result, error) {
		name := "/var/lib/cni/" + call.Container
		if k.first == "" {
			k.first = name
		}
		if err := k.backends.Disk(call.Node).Process(ctx, g).WriteFile(name, []byte("text"), 0o600); err != nil {
			return ipam.Result{}, err
		}
		if err := k.cloud.Call(ctx, g, "describe", nil, nil); err != nil {
			return ipam.Result{}, err
		}
		return add(ctx, g, call)
	}
	return inst, err
}

// keep runs a StatefulSet of one pod, which is placed on node a. It returns the events and the
// final content of the file of the pod's first ADD: "-" for no file.
func keep(t *testing.T, script ...cluster.Entry) (happened []string, file string) {
	t.Helper()
	k := &keeper{}
	c := run(t, `{"type":"canary","range":"10.0.0.0/28"}`, "StatefulSet", 1, func(cfg *cluster.Config) {
		own := *cfg.Manager
		own.Open = k.open
		k.manager, cfg.Manager, cfg.Script, cfg.Until = cfg.Manager, &own, script, 3*time.Minute
	}, nil, func() {
		b, err := k.backends.Disk("a").Process(context.Background(), nil).ReadFile(k.first)
		if file = string(b); errors.Is(err, fs.ErrNotExist) {
			file = "-"
		}
	})
	return eventLines(c), file
}

// The file of an ADD after a reboot one second later, and after the loss of the disk.
func TestUnsynced(t *testing.T) {
	for _, c := range []struct {
		name   string
		reboot action.Reboot
		at     time.Duration
		want   string
	}{
		{"keep", action.Reboot{Unsynced: action.Keep}, time.Second, "text"},
		{"lose", action.Reboot{Unsynced: action.Lose}, time.Second, "-"},
		{"lose, later", action.Reboot{Unsynced: action.Lose}, 10 * time.Second, ""},
		{"lose, much later", action.Reboot{Unsynced: action.Lose}, time.Minute, "text"},
		{"drawn: the plainest answer", action.Reboot{}, time.Second, "text"},
		{"forget", action.Reboot{Forget: true}, time.Minute, "-"},
	} {
		c.reboot.Node = "a"
		if _, file := keep(t, cluster.Entry{At: c.at, Action: &c.reboot}); file != c.want {
			t.Errorf("%s: %q, want %q", c.name, file, c.want)
		}
	}
	_, file := keep(t, cluster.Entry{At: time.Minute, Action: &action.ReplaceNode{Node: "a"}})
	if file != "-" {
		t.Errorf("a machine that was replaced has the file of the old one: %q", file)
	}
}

// An ADD fails while the disk is full or the cloud refuses, and not any more when that
// is over.
func TestBackendFaults(t *testing.T) {
	minute := metav1.Duration{Duration: time.Minute}
	for _, c := range []struct {
		action          cluster.Action
		begins, problem string
	}{
		{&action.DiskFault{Node: "a", Fault: "full", For: minute}, "disk of node a full", "no space left on device"},
		{&action.DiskFault{Node: "a", Fault: "readOnly", For: minute}, "disk of node a read-only", "read-only file system"},
		{&action.CloudFault{Fault: "refuse", For: minute}, "the cloud refuses 100 % of calls", "Unavailable"},
	} {
		got, _ := keep(t, cluster.Entry{Action: c.action})
		failed := only(got, c.problem)
		if len(failed) == 0 || len(only(got, c.begins)) == 0 || !slices.ContainsFunc(got, func(s string) bool { return strings.Contains(s, "add-end a 10.0.0.1") }) {
			t.Errorf("%s:\n%s", c.action, strings.Join(got, "\n"))
		}
	}
}
