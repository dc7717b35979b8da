package iproute

import (
	"path"
	"regexp"
	"slices"
	"strings"
)

// object is what a command is about.
type object int

// The objects.
const (
	routes object = iota
	addrs
	rules
)

// command is ip route, ip rule or ip addr as it was typed, or as a file is named after it.
type command struct {
	host, pod string
	of        object
	table     string // of ip route, or all
	whole     bool   // without a filter
	numeric   bool   // tables are printed by number
	four, six bool
}

var (
	// ipCommand is ip route, ip rule or ip addr at the end of a line, with what stands before it.
	ipCommand = regexp.MustCompile(`^(.*?)(?:^|[\s'"])(?:\S*/)?ip((?:\s+-\S+)*)\s+(r|ro|rou|rout|route|ru|rul|rule|a|ad|add|addr|address)((?:\s+[\w.:/@-]+)*)\s*['"]?$`)
	// prompt stands before a command, and may name the host.
	prompt = regexp.MustCompile(`^\s*(?:\([^()\s]{1,40}\) ?)*(?:\[(?:[\w.+-]+@)?([\w.-]+)[^\[\]]{0,80}\]|[\w.+-]+@([\w.-]+)[^$#%>]{0,80}|([\w.-]+):[~/][^\s$#%>]{0,80}(?: [\w.-]{1,40})?|(?:ba|z|k)?sh-[\d.]+|[~/][\w./-]{0,80})? ?[$#%>❯➜»]+\s*`)

	viaSSH   = regexp.MustCompile(`^(?:sudo )?ssh\s+(?:-\S+\s+(?:\S+=\S+\s+)?)*(?:[\w.+-]+@)?([\w.-]+)\s*(?:--\s*)?(?:sudo)?\s*$`)
	viaDebug = regexp.MustCompile(`^(?:sudo )?(?:kubectl|oc)\s+(?:\S+\s+)*?debug\s+(?:\S+\s+)*?node/([\w.-]+)\s+(?:\S+\s+)*?--\s+(?:chroot /host )?$`)
	viaExec  = regexp.MustCompile(`^(?:sudo )?(?:kubectl|oc)\s+(.*)exec\s+(.*?)\s*--\s+$`)
	viaBox   = regexp.MustCompile(`^(?:sudo )?(?:docker|podman|nerdctl)\s+exec\s+(?:-\S+\s+)*([\w.-]+)\s+$`)
)

// typed reads a line of a terminal. ok is false for any other line.
func typed(line string) (c command, ok bool) {
	if len(line) > 2000 || !strings.Contains(line, "ip") {
		return c, false
	}
	m := ipCommand.FindStringSubmatch(line)
	if m == nil {
		return c, false
	}
	if c, ok = arguments(strings.Fields(m[2]), m[3], strings.Fields(m[4])); !ok {
		return c, false
	}
	before := m[1]
	p := prompt.FindStringSubmatch(before)
	if p == nil {
		return c, false // prose
	}
	rest := strings.TrimLeft(before[len(p[0]):], " ")
	for _, host := range p[1:] {
		if host != "" {
			c.host = host
		}
	}
	if rest != "" {
		rest = strings.TrimRight(rest, " '\"") + " "
	}
	switch {
	case rest == "" || rest == "sudo ":
	case viaSSH.MatchString(rest):
		c.host = viaSSH.FindStringSubmatch(rest)[1]
	case viaDebug.MatchString(rest):
		c.host = viaDebug.FindStringSubmatch(rest)[1]
	case viaBox.MatchString(rest):
		c.host = viaBox.FindStringSubmatch(rest)[1]
	case viaExec.MatchString(rest):
		c.host, c.pod = "", podOf(viaExec.FindStringSubmatch(rest))
		return c, c.pod != ""
	default:
		return c, false
	}
	return c, true
}

// podOf is the pod of kubectl exec, namespace/name.
func podOf(m []string) string {
	words := strings.Fields(m[1] + " " + m[2])
	namespace, pod := "default", ""
	for i := 0; i < len(words); i++ {
		w := words[i]
		flag, value, has := strings.Cut(w, "=")
		switch {
		case flag == "-n" || flag == "--namespace" || flag == "-c" || flag == "--container" || flag == "--context" || flag == "--kubeconfig":
			if !has && i+1 < len(words) {
				i++
				value = words[i]
			}
			if flag == "-n" || flag == "--namespace" {
				namespace = value
			}
		case strings.HasPrefix(w, "-"):
		case pod == "":
			pod = strings.TrimPrefix(strings.TrimPrefix(w, "pods/"), "pod/")
		default:
			return ""
		}
	}
	if pod == "" || strings.Contains(pod, "/") {
		return "" // ds/calico-node: which pod is not said
	}
	return namespace + "/" + pod
}

// arguments reads what ip was asked for. A command that shows a part, or another thing, is no
// evidence: ip route get, show cache, ip -n NETNS.
func arguments(flags []string, object string, words []string) (c command, ok bool) {
	c.of, c.table, c.whole = objectOf(object), "main", true
	for _, f := range flags {
		switch f {
		case "-4":
			c.four = true
		case "-6":
			c.six = true
		case "-N", "-Numeric":
			c.numeric = true
		case "-j", "-json", "-p", "-pretty", "-d", "-details", "-o", "-oneline", "-c", "-color", "-c=never", "-s", "-stats":
		default:
			return c, false
		}
	}
	for i, w := range words {
		switch {
		case i == 0 && slices.Contains([]string{"show", "list", "ls", "lst", "sh"}, w):
		case c.of == routes && isTable(w) && i+1 < len(words):
		case c.of == routes && i > 0 && isTable(words[i-1]) && w != "cache":
			c.table = tableName(w)
		case c.of == addrs:
			c.whole = false
			if w == "help" || w == "flush" || w == "del" || w == "add" || w == "replace" || w == "change" || w == "save" || w == "restore" {
				return c, false
			}
		default:
			return c, false
		}
	}
	return c, true
}

func isTable(word string) bool { return word == "table" || word == "t" }

func objectOf(name string) object {
	switch {
	case strings.HasPrefix(name, "ru"):
		return rules
	case strings.HasPrefix(name, "r"):
		return routes
	}
	return addrs
}

// named is a file or the folder of it that is named after ip route, ip rule or ip addr.
//
// Source: sos/report/plugins/networking.py (sos 4: ip_route_show_table_all,
// ip_-6_route_show_table_all, ip_-4_rule_list, ip_-6_rule_list, ip_-o_addr, ip_-d_address; sos 3:
// ip_address); rancher2_logs_collector.sh, networking (iproute, iprule, ipv6route, ipv6rule,
// ipaddrshow, ipv6addrshow);
// calicoctl cluster diags (ip-route.txt, ip-route-v6.txt, ip-addr.txt) and node diags
// (ipv4_route, ipv6_route, ipv4_addr, ipv6_addr) (v3.31).
var named = regexp.MustCompile(`(?i)(?:^|[-_.])ip(v4|v6|6)?[-_ ]?(?:-?([46odjNs])[-_ ])*(route|rule|addr)(?:ess)?s?((?:[-_ ]?(?:show|list|ls|table|all|main|v4|v6|json))*)(?:$|[-_.])`)

// numbered is a table in the name of a file.
var numbered = regexp.MustCompile(`table[-_ ]?([0-9]+)(?:$|[-_.])`)

// ofFile reads the name of a file.
func ofFile(name string) (c command, ok bool) {
	base := strings.ToLower(path.Base(name))
	for _, other := range []string{"netns", "cache", "_get", "-get", "neigh", ".go", ".sh", ".py", ".yaml", ".yml"} {
		if strings.Contains(base, other) {
			return c, false
		}
	}
	m := named.FindStringSubmatch(base)
	if m == nil {
		return c, false
	}
	c.of, c.table, c.whole = objectOf(m[3]), "main", true
	if n := numbered.FindStringSubmatch(base); n != nil {
		c.table = tableName(n[1])
	} else if strings.Contains(m[4], "all") {
		c.table = "all"
	} else if strings.HasSuffix(m[4], "table") {
		return c, false // of which table is not shown
	}
	c.six = m[1] == "v6" || m[1] == "6" || m[2] == "6" || strings.Contains(m[4], "v6")
	c.four = m[1] == "v4" || m[2] == "4" || strings.Contains(m[4], "v4")
	return c, true
}
