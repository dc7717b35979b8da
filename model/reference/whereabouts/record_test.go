package whereabouts_test

import (
	"errors"
	"fmt"
	"net/netip"
	"strings"
	"testing"

	"ipamsim/model"
	"ipamsim/model/reference/whereabouts"
)

// Each story is the shortest history of one behaviour of Whereabouts, in lines:
//
//	add POD[/CONTAINER] NETWORK      the addresses that follow, or the refusal
//	del POD[/CONTAINER] NETWORK
//	reconcile POD[=ADDRESS,…]…       the existing pods, with the addresses in their status
//	reserve NETWORK ADDRESS          for an unknown pod
//
// The container of a pod is called after it. Behind "#" stands what is claimed
// afterwards. TestConformance checks that the real code does the same.
var stories = []struct {
	name     string
	networks map[string]string // prefix [START-END] [!EXCLUDE] …, one range a word
	story    string
}{
	{"the lowest free address, neither the first nor the last", map[string]string{"net": "10.0.0.0/29"}, `
		add a net: 10.0.0.1
		add b net: 10.0.0.2
		del a net
		add c net: 10.0.0.1 # 10.0.0.1 c, 10.0.0.2 b`},
	{"from range_start to range_end, without the excluded", map[string]string{"net": "10.0.0.0/24,10.0.0.9-10.0.0.12,!10.0.0.8/31,!10.0.0.11/32"}, `
		add a net: 10.0.0.10
		add b net: 10.0.0.12
		add c net: no address is left`},
	{"a pod gets its own address again, under its new container", map[string]string{"net": "10.0.0.0/29"}, `
		add a net: 10.0.0.1
		add a/2 net: 10.0.0.1
		del a net # 10.0.0.1 a
		del a/2 net #`},
	{"overlapping ranges pass over what is reserved", map[string]string{"net": "10.0.0.0/28", "part": "10.0.0.0/29"}, `
		add a net: 10.0.0.1
		add b part: 10.0.0.2
		add a part: 10.0.0.1`},
	{"DEL stops where nothing is found", map[string]string{"net": "10.0.0.0/29 fd00::/64", "v4": "10.0.0.0/29"}, `
		add a net: 10.0.0.1 fd00::1
		del a v4 # fd00::1 a
		del a net # fd00::1 a`},
	{"an own address that another has reserved is never given up", map[string]string{"net": "10.0.0.0/24"}, `
		add a net: 10.0.0.1
		reserve net 10.0.0.1
		add a net: out of time # 10.0.0.1 a`},
	{"a pass frees what is in nobody's status", map[string]string{"net": "10.0.0.0/29"}, `
		add a net: 10.0.0.1
		add b net: 10.0.0.2
		add c net: 10.0.0.3
		reconcile a=10.0.0.1 b # 10.0.0.1 a`},
	{"an allocation that lies 2^63 behind its range", map[string]string{"net": "fd00::/64,!fd00::/65"}, `
		add a net: not modelled`},
}

func TestStories(t *testing.T) {
	for _, s := range stories {
		t.Run(s.name, func(t *testing.T) {
			networks := map[string]*whereabouts.Network{}
			for key, text := range s.networks {
				networks[key] = network(t, key, text)
			}
			r := whereabouts.New()
			for line := range strings.Lines(strings.TrimSpace(s.story)) {
				line = strings.TrimSpace(line)
				do, claims, checked := strings.Cut(line, "#")
				do, want, _ := strings.Cut(do, ": ")
				if got := play(r, networks, strings.Fields(do)); got != strings.TrimSpace(want) {
					t.Errorf("%s\ngot %s", line, got)
				}
				var have []string
				for _, c := range r.Snapshot().Claims {
					have = append(have, c.Addr.String()+" "+c.Pod.Name)
				}
				if got := strings.Join(have, ", "); checked && got != strings.TrimSpace(claims) {
					t.Errorf("%s\nclaimed: %s", line, got)
				}
			}
		})
	}
}

func network(t *testing.T, key, text string) *whereabouts.Network {
	t.Helper()
	n := model.Network{Key: "default/" + key, Overlap: true}
	for _, word := range strings.Fields(text) {
		parts := strings.Split(word, ",")
		r := model.Range{Prefix: netip.MustParsePrefix(parts[0])}
		for _, p := range parts[1:] {
			if x, ok := strings.CutPrefix(p, "!"); ok {
				r.Exclude = append(r.Exclude, netip.MustParsePrefix(x))
				continue
			}
			start, end, _ := strings.Cut(p, "-")
			r.Start, r.End = netip.MustParseAddr(start), netip.MustParseAddr(end)
		}
		n.Ranges = append(n.Ranges, r)
	}
	out, err := whereabouts.NewNetwork(n)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// play executes one line of a story and returns the result.
func play(r *whereabouts.Record, networks map[string]*whereabouts.Network, f []string) string {
	ref := func(name string) model.PodRef { return model.PodRef{Namespace: "default", Name: name} }
	call := func(s string) whereabouts.Call {
		pod, _, _ := strings.Cut(s, "/")
		return whereabouts.Call{Node: "a", Pod: ref(pod), Container: s, Interface: "net1"}
	}
	switch f[0] {
	case "add":
		addrs, err := r.Add(networks[f[2]], call(f[1]))
		return answer(addrs, err)
	case "del":
		return answer(nil, r.Del(networks[f[2]], call(f[1])))
	case "reserve":
		r.Reserve("", netip.MustParseAddr(f[2]), ref("stranger"), "net1")
	case "reconcile":
		var pods []whereabouts.Pod
		for _, p := range f[1:] {
			name, ips, _ := strings.Cut(p, "=")
			pods = append(pods, whereabouts.Pod{Ref: ref(name), IPs: strings.Split(ips, ",")})
		}
		r.Reconcile(whereabouts.AddressInStatus, pods)
	}
	return ""
}

func answer(addrs []netip.Prefix, err error) string {
	for _, kind := range []error{whereabouts.ErrExhausted, whereabouts.ErrTime, whereabouts.ErrNotModelled} {
		if errors.Is(err, kind) {
			return kind.Error()
		}
	}
	var out []string
	for _, a := range addrs {
		out = append(out, a.Addr().String())
	}
	return strings.Join(out, " ")
}

// A node gets the lowest free slice when it comes; one that came while there was
// none gets none either when one becomes free.
func TestCut(t *testing.T) {
	n, err := whereabouts.NewNetwork(model.Network{Key: "default/net", Slice: 29, Ranges: []model.Range{{Prefix: netip.MustParsePrefix("10.0.0.0/28")}}})
	if err != nil {
		t.Fatal(err)
	}
	r := whereabouts.New()
	for _, step := range []struct{ nodes, want string }{
		{"a", "10.0.0.0/29=a 10.0.0.8/29="},
		{"a b", "10.0.0.0/29=a 10.0.0.8/29=b"},
		{"a b c", "10.0.0.0/29=a 10.0.0.8/29=b"},
		{"b c", "10.0.0.0/29= 10.0.0.8/29=b"},
		{"b c", "10.0.0.0/29=c 10.0.0.8/29=b"}, // at the next event of any kind
	} {
		if err := r.Cut(n, []*whereabouts.Network{n}, strings.Fields(step.nodes)); err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, s := range r.Slices(n).All {
			got = append(got, fmt.Sprintf("%s=%s", s.Prefix, s.Node))
		}
		if g := strings.Join(got, " "); g != step.want {
			t.Errorf("nodes %s: got %s, want %s", step.nodes, g, step.want)
		}
	}
	if _, err := r.Add(n, whereabouts.Call{Node: "d", Pod: web0, Container: "x", Interface: "net1"}); !errors.Is(err, whereabouts.ErrCrash) {
		t.Error(err)
	}
	if err := whereabouts.New().Cut(n, nil, []string{"a", "b"}); !errors.Is(err, whereabouts.ErrNotModelled) {
		t.Error(err)
	}
}

// An input without an answer is refused at the documented place.
func TestNotModelled(t *testing.T) {
	for _, r := range []model.Range{
		{Prefix: netip.MustParsePrefix("10.0.0.0/31")},
		{Prefix: netip.MustParsePrefix("::/64")},
		{Prefix: netip.MustParsePrefix("0.0.0.0/0")},
		{Prefix: netip.MustParsePrefix("fd00::/48"), Start: netip.MustParseAddr("fd00:0:0:1::1")},
	} {
		if _, err := whereabouts.NewNetwork(model.Network{Key: "default/net", Ranges: []model.Range{r}}); !errors.Is(err, whereabouts.ErrNotModelled) {
			t.Errorf("%v: %v", r, err)
		}
	}
}
