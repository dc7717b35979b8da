package iproute

import (
	"path"
	"slices"
	"strings"
)

// names finds nodes by how their hosts are called.
type names struct {
	nodes []string
	by    map[string]string // full and short names; "": of several nodes
}

func newNames(nodes []string) *names {
	n := &names{nodes, map[string]string{}}
	for _, name := range nodes {
		short, _, _ := strings.Cut(name, ".")
		for _, key := range []string{name, short} {
			if other, ok := n.by[key]; ok && other != name {
				n.by[key] = ""
				continue
			}
			n.by[key] = name
		}
	}
	for _, name := range nodes {
		n.by[name] = name // a node that is called as another's short name
	}
	return n
}

// host is the node of a host's name, "" if none or several may be it.
func (n *names) host(name string) string {
	name = strings.ToLower(strings.TrimSuffix(name, "."))
	if node := n.by[name]; node != "" {
		return node
	}
	short, domain, _ := strings.Cut(name, ".")
	if node := n.by[short]; domain != "" && node != "" && !strings.Contains(node, ".") {
		return node // kubelets are called by the short name
	}
	return ""
}

// separators stand around a name in that of a file or folder.
const separators = "-_.+@:, "

// partsMax bounds the separators of a name.
const partsMax = 40

// within is the node whose name a part of a path has, "" if none or several have: w1 and
// w1-2 may both be meant by sosreport-w1-2-2026.
func (n *names) within(part string) string {
	part = strings.ToLower(part)
	if node := n.host(part); node != "" {
		return node
	}
	// Names hold separators, too: all that lies between two of them may be one.
	ends := []int{-1}
	for i, r := range part {
		if strings.ContainsRune(separators, r) {
			ends = append(ends, i)
		}
	}
	if ends = append(ends, len(part)); len(ends) > partsMax {
		return ""
	}
	found := map[string]bool{}
	for i, from := range ends {
		for _, to := range ends[i+1:] {
			if node, ok := n.by[part[from+1:to]]; ok {
				found[node] = true
			}
		}
	}
	if len(found) != 1 {
		return ""
	}
	for node := range found {
		return node
	}
	return ""
}

// node is whose an output is, "" if that is not shown: what was typed says it, or the pod, or
// the name of the file, or that of the nearest folder which names a node.
func (o *Outputs) node(n *names, x *Output, hostOf func(pod string) string) string {
	switch {
	case x.Pod != "":
		return hostOf(x.Pod)
	case x.Host != "":
		return n.host(x.Host)
	}
	for dir := x.Path; dir != "." && dir != "/" && dir != ""; dir = path.Dir(dir) {
		if host, ok := o.hosts[path.Dir(dir)]; ok {
			return n.host(host)
		}
		if node := n.within(path.Base(dir)); node != "" {
			return node
		}
		if len(dir) == len(path.Dir(dir)) {
			break
		}
	}
	return ""
}

// hostFiles hold the name of the host, and how far above them its folder is.
//
// Source: sos/report/plugins/host.py, networking.py (sos 4: hostname, etc/hostname);
// rancher2_logs_collector.sh, system-all: systeminfo/hostname; calicoctl node diags: hostname
// (v3.31).
var hostFiles = []string{"sos_commands/host/hostname", "systeminfo/hostname", "etc/hostname", "hostname"}

// AddHost keeps the name of the host whose files a folder holds, if the file has it.
func (o *Outputs) AddHost(file string, text []byte) bool {
	name := strings.TrimSpace(string(text))
	if name == "" || len(name) > 253 || strings.ContainsAny(name, " \t\n/=:") {
		return false
	}
	i := slices.IndexFunc(hostFiles, func(f string) bool { return file == f || strings.HasSuffix(file, "/"+f) })
	if i < 0 {
		return false
	}
	dir := path.Clean(strings.TrimSuffix(file, hostFiles[i]))
	if o.hosts == nil {
		o.hosts = map[string]string{}
	}
	if other, ok := o.hosts[dir]; ok && other != name {
		name = "" // contradictory
	}
	if len(o.hosts) < outputsMax {
		o.hosts[dir] = name
	}
	return true
}
