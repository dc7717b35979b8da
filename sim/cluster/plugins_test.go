package cluster_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"ipamsim/model"
	"ipamsim/sim"
	"ipamsim/sim/cluster"
	"ipamsim/sim/cluster/action"
	"ipamsim/sim/ipam"
)

// A DEL has a network namespace until one has succeeded, and after a reboot it has none. The
// DEL that undoes an ADD has one.
func TestNamespaces(t *testing.T) {
	var got []string
	run(t, `{"type":"canary","range":"10.0.0.0/28"}`, "StatefulSet", 1, func(cfg *cluster.Config) {
		noMultus(cfg)
		m := *outage{add: span{0, 5 * time.Second}, del: span{4 * time.Minute, 245 * time.Second}}.of(cfg.Manager)
		open := m.Open
		m.Open = func(e ipam.Env) (ipam.Instance, error) {
			i, err := open(e)
			del, begin := i.Del, time.Now()
			i.Del = func(ctx context.Context, g *sim.Gate, c ipam.Call) error {
				got = append(got, fmt.Sprintf("%v %v", time.Since(begin).Truncate(time.Second), c.Netns != ""))
				return del(ctx, g, c)
			}
			return i, err
		}
		cfg.Manager = &m
		cfg.Script = []cluster.Entry{
			{At: time.Minute, Action: &action.Reboot{Node: "a"}},
			{At: 4 * time.Minute, Action: &action.Scale{Kind: "StatefulSet", Name: "web", Replicas: 0}},
		}
	}, nil, nil)
	want := []string{
		"0s true",                 // undoes the ADD
		"1m30s false",             // after the reboot
		"4m0s true", "4m0s false", // refused; the one of before the reboot
		"4m10s true", "4m10s false", // succeeds
		"4m30s false", "4m30s false", // the collector stops and removes
		"4m30s false", "4m30s false",
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("-want +got:\n%s", d)
	}
}

// A plugin that fails does so in both commands, from when to when it is to, and its calls are
// disturbed.
func TestPluginFault(t *testing.T) {
	c := run(t, `{"type":"canary","range":"10.0.0.0/28"}`, "StatefulSet", 1, func(cfg *cluster.Config) {
		noMultus(cfg)
		for i := range cfg.Networks {
			cfg.Networks[i].Config = []byte(`{"type":"bridge","ipam":{"type":"canary","range":"10.0.0.0/28"}}`)
		}
		cfg.Script = []cluster.Entry{
			{At: 0, Action: &action.PluginFault{Node: "a", Command: "ADD", For: metav1.Duration{Duration: 15 * time.Second}}},
			{At: time.Minute, Action: &action.PluginFault{Node: "a", Type: "bridge", Command: "DEL", For: metav1.Duration{Duration: 15 * time.Second}}},
			{At: time.Minute, Action: &action.Scale{Kind: "StatefulSet", Name: "web", Replicas: 0}},
		}
	}, nil, nil)
	want := []string{
		"0s web-0 add-end a: plugin type=\"bridge\" failed (add): input/output error", "0s web-0 del-end a",
		"10s web-0 add-end a: plugin type=\"bridge\" failed (add): input/output error", "10s web-0 del-end a",
		"20s web-0 add-end a 10.0.0.1",
		"1m0s web-0 del-end a: plugin type=\"bridge\" failed (delete): input/output error",
		"1m10s web-0 del-end a: plugin type=\"bridge\" failed (delete): input/output error",
		"1m20s web-0 del-end a", "2m13s web-0 del-end a", "2m13s web-0 del-end a",
	}
	if d := cmp.Diff(want, only(eventLines(c), "add-end", "del-end")); d != "" {
		t.Errorf("-want +got:\n%s", d)
	}
	for _, e := range c.Checker.History().Events {
		if (e.Kind == model.AddEnd || e.Kind == model.DelEnd) && e.Disturbed != (e.Err != "") {
			t.Errorf("%s at %v: disturbed %v, %q", e.Kind, e.At, e.Disturbed, e.Err)
		}
	}
}
