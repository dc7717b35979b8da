package interfaceplugin_test

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/containernetworking/plugins/pkg/ip"

	"ipamsim/sim"
	"ipamsim/sim/ipam"
	"ipamsim/sim/ipam/interfaceplugin"
)

// The lines of upstream that the table cites contain the calls that it describes.
func TestSources(t *testing.T) {
	root := filepath.Join(ipam.Root("github.com/containernetworking/plugins", ip.NextIP), "plugins", "main")
	for _, p := range interfaceplugin.All {
		text, err := os.ReadFile(filepath.Join(root, p.Source.File))
		if err != nil {
			t.Fatal(err)
		}
		lines := strings.Split(string(text), "\n")
		for _, want := range []struct {
			line int
			text string
		}{
			{p.Source.Add, "ipam.ExecAdd("}, {p.Source.Undo, "ipam.ExecDel("}, {p.Source.Del, "ipam.ExecDel("}, {p.Source.Namespace, `if args.Netns == "" {`},
		} {
			if got := lines[want.line-1]; !strings.Contains(got, want.text) {
				t.Errorf("%s:%d is %q, want %s", p.Source.File, want.line, got, want.text)
			}
		}
		early := strings.TrimSpace(lines[p.Source.Namespace]) == "return nil" && p.Source.Namespace < p.Source.Del
		if early != p.NeedsNamespace {
			t.Errorf("%s: without a namespace it returns before its IPAM plugin: %v", p.Type, early)
		}
	}
}

// rig is an IPAM plugin that records its executions.
type rig struct {
	calls []string
	gives []netip.Prefix
	fails error
}

func (r *rig) instance(config, own string, faults ...interfaceplugin.Fault) ipam.Instance {
	f := interfaceplugin.NewFaults(own)
	f.Network("net", []byte(config))
	for _, x := range faults {
		f.Begin(x)
	}
	return interfaceplugin.Around(ipam.Instance{
		Add: func(_ context.Context, _ *sim.Gate, c ipam.Call) (ipam.Result, error) {
			r.calls = append(r.calls, "ADD")
			if own != "" && c.Fails("ADD") != nil {
				r.calls = append(r.calls, "refused")
			}
			return ipam.Result{Addrs: r.gives}, r.fails
		},
		Del: func(context.Context, *sim.Gate, ipam.Call) error {
			r.calls = append(r.calls, "DEL")
			return r.fails
		},
	}, f)
}

var (
	call   = ipam.Call{Node: "a", Network: "net", Netns: "/var/run/netns/x"}
	gone   = ipam.Call{Node: "a", Network: "net"}
	broken = interfaceplugin.Fault{Node: "a"}
)

func list(kind string) string {
	return fmt.Sprintf(`{"name": "net", "plugins": [{"type": %q, "ipam": {"type": "host-local"}}, {"type": "portmap"}]}`, kind)
}

// What each plugin does when it cannot make its interface, when it cannot take it away, and
// without a network namespace.
func TestAround(t *testing.T) {
	for kind, want := range map[string]struct{ add, del, gone string }{
		"bridge":      {"[ADD DEL]", "[]", "[DEL]"},
		"macvlan":     {"[ADD DEL]", "[DEL unplugged]", "[DEL]"},
		"ipvlan":      {"[ADD]", "[DEL unplugged]", "[DEL]"},
		"ptp":         {"[ADD DEL]", "[DEL unplugged]", "[DEL]"},
		"host-device": {"[ADD DEL]", "[DEL unplugged]", "[]"},
	} {
		config := fmt.Sprintf(`{"type": %q, "ipam": {"type": "host-local"}}`, kind)
		some := []netip.Prefix{netip.MustParsePrefix("10.0.0.1/24")}
		r := &rig{gives: some}
		_, err := r.instance(config, "", broken).Add(t.Context(), nil, call)
		if got := fmt.Sprint(r.calls); got != want.add || !errors.As(err, new(*ipam.Faulted)) {
			t.Errorf("%s: an ADD that fails: %s, %v", kind, got, err)
		}
		r = &rig{gives: some}
		c := call
		c.Unplug = func() { r.calls = append(r.calls, "unplugged") }
		err = r.instance(config, "", broken).Del(t.Context(), nil, c)
		if got := fmt.Sprint(r.calls); got != want.del || !errors.As(err, new(*ipam.Faulted)) {
			t.Errorf("%s: a DEL that fails: %s, %v", kind, got, err)
		}
		r = &rig{gives: some}
		err = r.instance(config, "", broken).Del(t.Context(), nil, gone)
		if got := fmt.Sprint(r.calls); got != want.gone || err != nil {
			t.Errorf("%s: a DEL without a namespace: %s, %v", kind, got, err)
		}
		r = &rig{}
		_, err = r.instance(config, "").Add(t.Context(), nil, call)
		undone := len(r.calls) == 2
		if err == nil || undone != (kind == "bridge") {
			t.Errorf("%s: without an address: %v, %v", kind, r.calls, err)
		}
	}
}

// A plugin that follows fails after the others in an ADD, and before them in a DEL.
func TestChain(t *testing.T) {
	some := []netip.Prefix{netip.MustParsePrefix("10.0.0.1/24")}
	r := &rig{gives: some}
	in := r.instance(list("bridge"), "", interfaceplugin.Fault{Node: "a", Type: "portmap"})
	if _, err := in.Add(t.Context(), nil, call); err == nil || fmt.Sprint(r.calls) != "[ADD]" {
		t.Error(r.calls, err)
	}
	r.calls = nil
	if err := in.Del(t.Context(), nil, call); err == nil || len(r.calls) > 0 {
		t.Error(r.calls, err)
	}
	other := call
	other.Node = "b"
	if err := in.Del(t.Context(), nil, other); err != nil || fmt.Sprint(r.calls) != "[DEL]" {
		t.Error("on another node", r.calls, err)
	}
}

// A manager's own plugin asks by itself, and is not undone from outside.
func TestOwnPlugin(t *testing.T) {
	r := &rig{}
	_, err := r.instance(`{"type": "calico", "ipam": {"type": "calico-ipam"}}`, "calico", broken).Add(t.Context(), nil, call)
	if got := fmt.Sprint(r.calls); got != "[ADD refused]" || err != nil {
		t.Error(got, err)
	}
}

func TestUnknown(t *testing.T) {
	for config, want := range map[string]string{
		`{"type": "macvlan", "ipam": {"type": "x"}}`: "",
		`{"type": "nosuch", "ipam": {"type": "x"}}`:  "nosuch",
		`{"type": "calico", "ipam": {"type": "x"}}`:  "",
		`{"type": "portmap", "ipam": {"type": "x"}}`: "portmap",
		list("bridge"): "",
		`{"plugins": [{"type": "bridge", "ipam": {"type": "x"}}, {"type": "nosuch"}]}`: "nosuch",
		`7`: "",
		`{"plugins": [{"type": "sriov", "ipam": {"type": "x"}}]}`: "",
	} {
		if kind, known, ok := interfaceplugin.Read([]byte(config), "calico").Unknown([]string{"sriov"}); kind != want || ok != (want != "") || ok && len(known) < 8 {
			t.Errorf("%s: %q, %v", config, kind, known)
		}
	}
}

func ExampleRead() {
	c := interfaceplugin.Read([]byte(`{"name": "net", "plugins": [
		{"type": "macvlan", "ipam": {"type": "whereabouts", "range": "10.0.0.0/24"}},
		{"type": "tuning"}]}`), "")
	fmt.Println(c.Types, c.Main)
	_, want, _ := interfaceplugin.Read([]byte(`{"type": "nosuchplugin"}`), "").Unknown(nil)
	fmt.Println(want)
	// Output:
	// [macvlan tuning] 0
	// [bridge dummy host-device ipvlan macvlan ptp tap vlan]
}
