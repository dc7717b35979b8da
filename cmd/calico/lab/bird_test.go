package main

import (
	"bufio"
	"errors"
	"net/netip"
	"strings"
	"testing"
)

// What BIRD 1.6.8 sends on its control socket, byte by byte.
const showProtocols = `2002-name     proto    table    state  since       info
1002-static1  Static   master   up     05:00:01
 kernel1  Kernel   master   up     05:00:01
 device1  Device   master   up     05:00:01
 Mesh_10_64_0_12 BGP      master   up     05:00:06    Established
 Mesh_10_64_0_13 BGP      master   start  05:00:01    Active        Socket: Connection refused
 Node_10_64_0_1 BGP      master   down   2026-11-21  
 Mesh_10_64_0_14 BGP      master   start  2026-11-21 05:00:01 Passive
0000 
`

func TestSessions(t *testing.T) {
	lines, err := answer(bufio.NewReader(strings.NewReader(showProtocols)))
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, s := range parseSessions(lines) {
		up := "down"
		if s.established {
			up = "up"
		}
		got = append(got, s.name+" "+up)
	}
	want := "Mesh_10_64_0_12 up, Mesh_10_64_0_13 down, Node_10_64_0_1 down, Mesh_10_64_0_14 down"
	if strings.Join(got, ", ") != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestSessionWith(t *testing.T) {
	s := session{name: "Mesh_10_64_0_12"}
	for a, want := range map[string]bool{"10.64.0.12": true, "0.64.0.12": false, "10.64.0.1": false, "10.64.0.112": false} {
		if s.with(netip.MustParseAddr(a)) != want {
			t.Errorf("%s: with %s is not %t", s.name, a, want)
		}
	}
}

func TestAnswers(t *testing.T) {
	for _, c := range []struct {
		name, sent, want string
		err              error
	}{
		{name: "greeting", sent: "0001 BIRD 1.6.8 ready.\n", want: "BIRD 1.6.8 ready."},
		{name: "disabled", sent: "0009-Mesh_10_64_0_12: disabled\n0000 \n", want: "Mesh_10_64_0_12: disabled|"},
		{name: "refused", sent: "8003 No protocols match\n", err: errBird},
		{name: "syntax", sent: "9001 syntax error\n", err: errBird},
	} {
		t.Run(c.name, func(t *testing.T) {
			lines, err := answer(bufio.NewReader(strings.NewReader(c.sent)))
			if got := strings.Join(lines, "|"); !errors.Is(err, c.err) || got != c.want {
				t.Errorf("got %q, %v; want %q, %v", got, err, c.want, c.err)
			}
		})
	}
	for _, broken := range []string{"", "0009-cut", "oops\n"} {
		if lines, err := answer(bufio.NewReader(strings.NewReader(broken))); err == nil {
			t.Errorf("%q was understood as %q", broken, lines)
		}
	}
}
