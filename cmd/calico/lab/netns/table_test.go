package netns

import (
	"strings"
	"testing"
)

// What ip -j route (iproute2 6.1) prints for a node of topology 7, behind a ToR.
const nodeTable = `[
{"dst":"default","gateway":"10.64.0.1","dev":"eth0","flags":["onlink"]},
{"dst":"10.64.0.0/24","dev":"eth0","protocol":"kernel","scope":"link","prefsrc":"10.64.0.13","flags":[]},
{"dst":"10.64.75.0/26","protocol":"bird","flags":[],"nexthops":[
  {"gateway":"10.64.0.14","dev":"eth0","weight":1,"flags":[]},{"gateway":"10.64.0.11","dev":"eth0","weight":1,"flags":[]}]},
{"type":"blackhole","dst":"10.64.77.0/26","protocol":"bird","flags":[]},
{"dst":"10.64.77.5","dev":"calic1","scope":"link","flags":[]}]`

func TestParseRoutes(t *testing.T) {
	routes, err := ParseRoutes(nodeTable, false)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, r := range routes {
		got = append(got, r.String())
	}
	// What ip route prints of the same table.
	want := []string{
		"default via 10.64.0.1 dev eth0 onlink",
		"10.64.0.0/24 dev eth0 proto kernel scope link src 10.64.0.13",
		"10.64.75.0/26 proto bird\n\tnexthop via 10.64.0.11 dev eth0 weight 1\n\tnexthop via 10.64.0.14 dev eth0 weight 1",
		"blackhole 10.64.77.0/26 proto bird",
		"10.64.77.5 dev calic1 scope link",
	}
	if strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	if empty, err := ParseRoutes("\n", false); len(empty) != 0 || err != nil {
		t.Errorf("an empty table: %v, %v", empty, err)
	}
	for _, bad := range []string{
		"Object \"rout\" is unknown", `[{"dst":1}]`, `[{"dst":"10.64.0.0/33"}]`, `[{"dst":"default","gateway":"there"}]`, `[{"dst":"default","prefsrc":"me"}]`,
	} {
		if r, err := ParseRoutes(bad, false); err == nil {
			t.Errorf("%s was understood as %v", bad, r)
		}
	}
}

func TestClassify(t *testing.T) {
	for _, c := range []struct {
		said string
		ok   bool
		want Echo
	}{
		{"2 packets transmitted, 2 received, 0% packet loss, time 204ms", true, Answered},
		{"2 packets transmitted, 1 received, 50% packet loss, time 204ms", true, Answered},
		{"2 packets transmitted, 0 received, 100% packet loss, time 204ms", false, Lost},
		{"ping: connect: Invalid argument", false, Lost},
		{"ping: connect: Network is unreachable", false, Unreachable},
		{"From 10.64.0.11 icmp_seq=1 Destination Net Unreachable\n2 packets transmitted, 0 received, +2 errors, 100% packet loss", false, Unreachable},
		{"From 10.64.0.11 icmp_seq=1 Time to live exceeded\n2 packets transmitted, 0 received, +2 errors, 100% packet loss", false, Looped},
		{"ping: socket: Operation not permitted", false, Unclear},
		{"", false, Unclear},
	} {
		if got := classify(c.said, c.ok); got != c.want {
			t.Errorf("%q: %v, want %v", c.said, got, c.want)
		}
	}
}
