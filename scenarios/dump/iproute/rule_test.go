package iproute_test

import (
	"fmt"
	"net/netip"
	"strings"
	"testing"

	"ipamsim/scenarios/dump/iproute"
)

// standard are the rules of a machine without policy routing.
const standard = "0:\tfrom all lookup local\n32766:\tfrom all lookup main\n32767:\tfrom all lookup default\n"

// ruled is a terminal in which the rules, all routes, and perhaps more were listed on w1.
func ruled(rules, tables string, more ...string) string {
	out := "[root@w1 ~]# ip rule\n" + rules + "[root@w1 ~]# ip route show table all\n" + tables
	for i := 0; i < len(more); i += 2 {
		out += "[root@w1 ~]# " + more[i] + "\n" + more[i+1]
	}
	return out + "[root@w1 ~]# \n"
}

// wayOf is what w1 does with packets to 10.0.0.1 from a pod, in words.
func wayOf(t *testing.T, text string) string {
	t.Helper()
	all, _ := read(t, "x.txt", text)
	o := &iproute.Outputs{}
	for _, x := range all {
		o.AddOutput(x)
	}
	n := o.Of([]string{"w1", "w2"}, noHost)["w1"]
	if n == nil {
		return "nothing of w1"
	}
	way := n.Way(netip.MustParseAddr("10.0.0.1"), netip.MustParseAddr("10.0.0.70"), netip.MustParseAddr("10.0.0.71"))
	if way.Drops() && !n.Dropping()(netip.MustParseAddr("10.0.0.1")) {
		t.Errorf("%s: Dropping rules out what Way finds", text)
	}
	switch {
	case way.Known && way.Route == nil:
		return "no route"
	case way.Known:
		return way.Route.Text
	case way.Table != "":
		return "doubt: table " + way.Table
	case way.Doubt != nil:
		return "doubt: " + way.Doubt.Text
	}
	return "unknown"
}

// TestRules: a lookup follows the rules in their order. What they depend on and is not known is no black hole,
// and none is ruled out by it.
func TestRules(t *testing.T) {
	const (
		main  = "default via 192.168.1.1 dev eth0\n10.0.0.64/26 dev cali1 scope link\n"
		drops = main + "blackhole 10.0.0.0/26 proto bird\n"
		sends = main + "10.0.0.0/26 via 192.168.1.12 dev eth0 proto bird\n"
		other = "10.0.0.0/26 via 192.168.9.9 dev eth1 table 100\n"
		hole  = "blackhole 10.0.0.0/26 proto bird"
		route = "10.0.0.0/26 via 192.168.1.12 dev eth0 proto bird"
		to100 = "10.0.0.0/26 via 192.168.9.9 dev eth1 table 100"
	)
	with := func(rule string) string {
		return strings.Replace(standard, "32766:", rule+"\n32766:", 1)
	}
	for name, x := range map[string]struct{ text, want string }{
		"no rules of its own":           {ruled(standard, drops+other), hole},
		"without the rules":             {"[root@w1 ~]# ip route show table all\n" + drops + other + "[root@w1 ~]# \n", "unknown"},
		"a rule for all":                {ruled(with("100:\tfrom all lookup 100"), drops+other), to100},
		"a rule behind main":            {ruled(standard+"32768:\tfrom all lookup 100\n", drops+other), hole},
		"unsorted":                      {ruled("32766:\tfrom all lookup main\n0:\tfrom all lookup local\n100:\tfrom all lookup 100\n", drops+other), to100},
		"to the address":                {ruled(with("100:\tfrom all to 10.0.0.0/24 lookup 100"), drops+other), to100},
		"to another address":            {ruled(with("100:\tfrom all to 10.9.0.0/24 lookup 100"), drops+other), hole},
		"not to the address":            {ruled(with("100:\tnot from all to 10.0.0.0/24 lookup 100"), drops+other), hole},
		"from the pods":                 {ruled(with("100:\tfrom 10.0.0.64/26 lookup 100"), drops+other), to100},
		"from others":                   {ruled(with("100:\tfrom 192.168.9.0/24 lookup 100"), drops+other), hole},
		"not from others":               {ruled(with("100:\tnot from 192.168.9.0/24 lookup 100"), drops+other), to100},
		"from one of the pods":          {ruled(with("100:\tfrom 10.0.0.70 lookup 100"), drops+other), "doubt: 100: from 10.0.0.70 lookup 100"},
		"from one, without effect":      {ruled(with("100:\tfrom 10.0.0.70 lookup 100"), drops+"blackhole 10.0.0.0/24 table 100\n"), hole},
		"a mark":                        {ruled(with("99:\tnot from all fwmark 0x100000/0x100000 lookup 100"), drops+other), "doubt: 99: not from all fwmark 0x100000/0x100000 lookup 100"},
		"a mark, nothing drops":         {ruled(with("99:\tnot from all fwmark 0x100000/0x100000 lookup 100"), sends+other), "unknown"},
		"a mark, without a route":       {ruled(with("99:\tfrom all fwmark 0x1 lookup 100"), drops+"10.9.0.0/24 dev eth1 table 100\n"), hole},
		"a mark, and throw":             {ruled(with("99:\tfrom all fwmark 0x1 lookup 100"), drops+"throw 10.0.0.0/26 table 100\n"), hole},
		"a mark that drops":             {ruled(with("99:\tfrom all fwmark 0x1 blackhole"), sends), "doubt: 99: from all fwmark 0x1 blackhole"},
		"an interface":                  {ruled(with("99:\tfrom all iif eth1 lookup 100"), drops+other), "doubt: 99: from all iif eth1 lookup 100"},
		"a port":                        {ruled(with("99:\tfrom all ipproto tcp dport 443 lookup 100"), drops+other), "doubt: 99: from all ipproto tcp dport 443 lookup 100"},
		"a VRF":                         {ruled(with("99:\tfrom all lookup [l3mdev-table]"), drops), "doubt: 99: from all lookup [l3mdev-table]"},
		"a word of a later release":     {ruled(with("99:\tfrom all colour red lookup 100"), drops+other), "doubt: 99: from all colour red lookup 100"},
		"a rule that drops":             {ruled(with("99:\tfrom all to 10.0.0.0/24 prohibit"), sends), "99: from all to 10.0.0.0/24 prohibit"},
		"nop":                           {ruled(with("99:\tfrom all nop"), sends), route},
		"goto":                          {ruled(with("99:\tfrom all goto 200\n100:\tfrom all lookup 100\n200:\tfrom all to 10.9.0.0/24 blackhole"), drops+other), hole},
		"goto by a mark":                {ruled(with("99:\tfrom all fwmark 0x1 goto 200\n100:\tfrom all lookup 100\n200:\tfrom all nop"), drops+other), "doubt: 99: from all fwmark 0x1 goto 200"},
		"goto to nothing":               {ruled(with("99:\tfrom all goto 40000"), sends), "no route"},
		"suppressed default":            {ruled(with("99:\tfrom all lookup 100 suppress_prefixlength 0"), drops+"default via 192.168.9.1 dev eth1 table 100\n"), hole},
		"not suppressed":                {ruled(with("99:\tfrom all lookup 100 suppress_prefixlength 0"), drops+other), to100},
		"suppressed by a group":         {ruled(with("99:\tfrom all lookup 100 suppress_ifgroup default"), drops+other), "doubt: 99: from all lookup 100 suppress_ifgroup default"},
		"no main":                       {ruled("0:\tfrom all lookup local\n", sends), "no route"},
		"an empty table":                {ruled(with("220:\tfrom all lookup 220"), drops), hole},
		"a table that is not listed":    {"[root@w1 ~]# ip rule\n" + with("220:\tfrom all lookup 220") + "[root@w1 ~]# ip route\n" + drops + "[root@w1 ~]# \n", "doubt: table 220"},
		"a table that is listed":        {"[root@w1 ~]# ip rule\n" + with("100:\tfrom all lookup 100") + "[root@w1 ~]# ip route\n" + drops + "[root@w1 ~]# ip route show table 100\n10.0.0.0/26 via 192.168.9.9 dev eth1\n[root@w1 ~]# \n", "10.0.0.0/26 via 192.168.9.9 dev eth1"},
		"an empty table that is listed": {"[root@w1 ~]# ip rule\n" + with("220:\tfrom all lookup 220") + "[root@w1 ~]# ip route\n" + drops + "[root@w1 ~]# ip route show table 220\n[root@w1 ~]# \n", hole},
		"a table that does not exist":   {"[root@w1 ~]# ip rule\n" + with("220:\tfrom all lookup 220") + "[root@w1 ~]# ip route\n" + drops + "[root@w1 ~]# ip route show table 220\nError: ipv4: FIB table does not exist.\nDump terminated\n[root@w1 ~]# \n", hole},
		"without main":                  {"[root@w1 ~]# ip rule\n" + with("100:\tfrom all to 10.9.0.0/16 lookup 100") + "[root@w1 ~]# ip route show table 100\n10.0.0.0/26 via 192.168.9.9 dev eth1\n[root@w1 ~]# \n", "doubt: table main"},
		"rules alone":                   {"[root@w1 ~]# ip rule\n" + standard + "[root@w1 ~]# \n", "unknown"},
		"rules that are cut off":        {"[root@w1 ~]# ip route\n" + drops + "[root@w1 ~]# ip rule\n0:\tfrom all lookup local\n", "unknown"},
		"two instants":                  {ruled(standard, drops, "ip rule", with("100:\tfrom all lookup 100")), "nothing of w1"},
		"two instants of a table":       {ruled(with("100:\tfrom all lookup 100"), drops+other, "ip route show table 100", "10.0.0.0/26 via 192.168.9.8 dev eth1\n"), "nothing of w1"},
		"one instant of a table":        {ruled(with("100:\tfrom all lookup 100"), drops+other, "ip route show table 100", strings.ReplaceAll(other, " table 100", "")), to100},
		"numbers and names":             {strings.Replace(ruled(with("100:\tfrom all lookup 100"), drops+strings.ReplaceAll(other, "table 100", "table uplink")), "ip rule", "ip -N rule", 1), "doubt: table 100"},
		"IPv6":                          {strings.Replace(ruled(with("100:\tfrom all lookup 100"), sends), "ip rule", "ip -6 rule", 1), route},
		"JSON": {
			strings.Replace(ruled(`[{"priority":0,"src":"all","table":"local"},{"priority":99,"not":null,"src":"all","fwmark":"0x1","fwmask":"0x1","table":"100"},`+"\n"+`{"priority":100,"src":"10.0.0.64","srclen":26,"dst":"10.0.0.0","dstlen":26,"table":"100","suppress_prefixlength":0,"protocol":"static"},{"priority":32766,"src":"all","table":"main"}]`+"\n", drops+other), "ip rule", "ip -j rule", 1), to100,
		},
		"JSON of a later release": {strings.Replace(ruled(`[{"priority":99,"src":"all","colour":1,"table":"100"},{"priority":32766,"src":"all","table":"main"}]`+"\n", drops+other), "ip rule", "ip -j rule", 1), "doubt: 99: from all l3mdev lookup 100"},
	} {
		if got := wayOf(t, x.text); got != x.want {
			t.Errorf("%s: %q, want %q", name, got, x.want)
		}
	}
}

// TestRuleFiles: the rules and tables of support bundles, by their real names.
func TestRuleFiles(t *testing.T) {
	const main = "default via 192.168.1.1 dev eth0\nblackhole 10.0.0.0/26\n10.0.0.0/26 via 192.168.9.9 dev eth1 table 100\nlocal 127.0.0.1 dev lo table local\n"
	for rules, routes := range map[string]string{
		"w1/sos_commands/networking/ip_-4_rule_list": "w1/sos_commands/networking/ip_route_show_table_all",
		"w1/networking/iprule":                       "w1/networking/iproute",
		"w1/networking/iprule.txt":                   "w1/networking/iproute.txt",
		"w1/ip-rule.txt":                             "w1/ip_route_show_table_all.txt",
	} {
		o := &iproute.Outputs{}
		for name, text := range map[string]string{rules: strings.Replace(standard, "32766:", "100:\tfrom all lookup 100\n32766:", 1), routes: main} {
			out, ok, err := iproute.File(name, strings.NewReader(text))
			if err != nil || !ok || !out.Whole {
				t.Fatalf("%s: %t, %v, %+v", name, ok, err, out)
			}
			o.AddOutput(out)
		}
		way := o.Of([]string{"w1"}, noHost)["w1"].Way(netip.MustParseAddr("10.0.0.1"))
		if !way.Known || way.Route == nil || way.Route.Dev != "eth1" {
			t.Errorf("%s: %+v", rules, way)
		}
	}
	for name, want := range map[string]string{"w1/ip-route-table-100.txt": "100", "w1/ip_route_show_table_254": "main", "w1/ip-route.txt": "main", "w1/ip_route_show_table_all": "all", "w1/ip-route-table-blue.txt": ""} {
		out, ok, err := iproute.File(name, strings.NewReader("default via 192.168.1.1 dev eth0\n"))
		if err != nil || ok != (want != "") || out.Table != want {
			t.Errorf("%s: %t, table %q, want %q", name, ok, out.Table, want)
		}
	}
}

// TestHostileRules: many rules cost no more than they can be worth.
func TestHostileRules(t *testing.T) {
	var b strings.Builder
	for i := range 20_000 {
		fmt.Fprintf(&b, "%d:\tfrom all fwmark 0x1 goto %d\n", i, i+1)
	}
	if got := wayOf(t, ruled(b.String(), "default via 192.168.1.1 dev eth0\n")); got != "unknown" {
		t.Errorf("%q", got)
	}
}
