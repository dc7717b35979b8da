package dump_test

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unicode/utf16"

	"sigs.k8s.io/yaml"

	"ipamsim/cmd/managers"
	"ipamsim/model"
	"ipamsim/model/invariant"
	"ipamsim/reports/imported"
	"ipamsim/scenarios/dump"
	"ipamsim/scenarios/dump/bundle"
	"ipamsim/scenarios/scenariotest"
)

type object = map[string]any

// leaked is the address that stays claimed for radio/du-2, which has no pod.
const leaked = "10.10.0.2"

// list is what one command shows.
type list struct {
	resource, kind, apiVersion string
	items                      []object
}

// leak is a cluster of Calico's with one leak, list by list.
func leak() []list {
	const crd = "crd.projectcalico.org/v1"
	made := func(apiVersion, kind, namespace, name string, rest object) object {
		meta := object{"name": name, "resourceVersion": "4711", "uid": "60c5590f-72ee-4292-a954-5afc28bf63ca"}
		if namespace != "" {
			meta["namespace"] = namespace
		}
		o := object{"apiVersion": apiVersion, "kind": kind, "metadata": meta}
		for k, v := range rest {
			o[k] = v
		}
		return o
	}
	attribute := func(pod string) object {
		return object{"handle_id": "k8s-pod-network." + pod, "secondary": object{"namespace": "radio", "node": "w1", "pod": pod}}
	}
	block := object{
		"cidr": "10.10.0.0/30", "affinity": "host:w1", "allocations": []any{nil, 0, 1, nil}, "unallocated": []int{0, 3},
		"attributes": []any{attribute("du-1"), attribute("du-2")}, "strictAffinity": false, "deleted": false,
	}
	node := func(name, ip string) object {
		return made("v1", "Node", "", name, object{"status": object{"addresses": []any{object{"type": "InternalIP", "address": ip}}}})
	}
	pod := made("v1", "Pod", "radio", "du-1", object{
		"spec":   object{"nodeName": "w1", "containers": []any{object{"name": "c", "image": "registry.example/du:1"}}},
		"status": object{"phase": "Running", "podIP": "10.10.0.1", "podIPs": []any{object{"ip": "10.10.0.1"}}},
	})
	// A Ready node without any pod would show that pods are missing.
	proxy := func(node, ip string) object {
		return made("v1", "Pod", "kube-system", "kube-proxy-"+node, object{
			"spec": object{"nodeName": node, "hostNetwork": true}, "status": object{"phase": "Running", "podIP": ip, "podIPs": []any{object{"ip": ip}}},
		})
	}
	pool := object{"cidr": "10.10.0.0/24", "blockSize": 30, "ipipMode": "Always", "vxlanMode": "Never", "nodeSelector": "all()"}
	return []list{
		{"nodes", "Node", "v1", []object{node("w1", "192.0.2.81"), node("w2", "192.0.2.82")}},
		{"pods", "Pod", "v1", []object{pod, proxy("w1", "192.0.2.81"), proxy("w2", "192.0.2.82")}},
		{"ippools.crd.projectcalico.org", "IPPool", crd, []object{made(crd, "IPPool", "", "default-pool", object{"spec": pool})}},
		{"ipamblocks.crd.projectcalico.org", "IPAMBlock", crd, []object{made(crd, "IPAMBlock", "", "10-10-0-0-30", object{"spec": block})}},
	}
}

// of is the object that kubectl prints of a list.
func (l list) of(kind string) object {
	items := []any{}
	for _, o := range l.items {
		if kind != "List" {
			o = object{"metadata": o["metadata"], "spec": o["spec"], "status": o["status"]}
		}
		items = append(items, o)
	}
	v := "v1"
	if kind != "List" {
		v = l.apiVersion
	}
	return object{"apiVersion": v, "items": items, "kind": kind, "metadata": object{"resourceVersion": ""}}
}

func yamlOf(v any) string {
	out, err := yaml.Marshal(v)
	if err != nil {
		panic(err)
	}
	return string(out)
}

func jsonOf(v any) string {
	out, err := json.MarshalIndent(v, "", "    ")
	if err != nil {
		panic(err)
	}
	return string(out) + "\n"
}

func compactOf(v any) string {
	out, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return string(out) + "\n"
}

// each joins what is made of each list.
func each(part func(i int, l list) string) string {
	var b strings.Builder
	for i, l := range leak() {
		b.WriteString(part(i, l))
	}
	return b.String()
}

// kubectl is the command that prints a list.
func (l list) kubectl() string { return "kubectl get " + l.resource + " -A -o yaml" }

// plain is the form that is read without anything around it.
func plain() string {
	return each(func(_ int, l list) string { return yamlOf(l.of("List")) + "---\n" })
}

// dumped is what the command of ipamsim import --print-dump-command writes.
func dumped() string {
	return each(func(_ int, l list) string {
		return fmt.Sprintf("--- # %s\n%s--- # %d %s\n", l.resource, yamlOf(l.of("List")), len(l.items), l.resource)
	})
}

// after puts a line before each list.
func after(line func(list) string) string {
	return each(func(_ int, l list) string { return line(l) + "\n" + yamlOf(l.of("List")) })
}

// prompted is a log of a terminal with a prompt.
func prompted(prompt string) string {
	return after(func(l list) string { return prompt + l.kubectl() }) + prompt + "\n"
}

// lined changes each line.
func lined(text string, change func(n int, line string) string) string {
	lines := strings.SplitAfter(text, "\n")
	for i, l := range lines {
		if l != "" {
			lines[i] = change(i+1, strings.TrimSuffix(l, "\n")) + "\n"
		}
	}
	return strings.Join(lines, "")
}

// pasted are the files of a form; one name is a file, several are a folder.
type pasted = map[string]string

// separate is a file for each list, in a folder.
func separate(name func(list) string, print func(list) string) pasted {
	out := pasted{}
	for _, l := range leak() {
		out[name(l)] = print(l)
	}
	return out
}

// inNamespaces is the layout of a must-gather and of oc adm inspect, with logs beside.
func inNamespaces() pasted {
	out := pasted{
		"must-gather/quay-io/timestamp":                                               "2025-10-01 10:00:00\n",
		"must-gather/quay-io/namespaces/radio/pods/du-1/c/c/logs/current.log":         "2025-10-01T10:00:00Z starting\n{\"kind\":\"x\",\"apiVersion\":\"y\"}\n",
		"must-gather/quay-io/cluster-scoped-resources/config.openshift.io/dnses.yaml": "---\napiVersion: config.openshift.io/v1\nkind: DNS\nmetadata:\n  name: cluster\n",
	}
	for _, l := range leak() {
		group, _, core := strings.Cut(l.apiVersion, "/")
		if !core {
			group = "core"
		}
		plural, _, _ := strings.Cut(l.resource, ".")
		if l.kind == "Pod" {
			for i, namespace := range []string{"radio", "kube-system"} {
				some := list{l.resource, l.kind, l.apiVersion, [][]object{l.items[:1], l.items[1:]}[i]}
				out["must-gather/quay-io/namespaces/"+namespace+"/core/pods.yaml"] = "---\n" + yamlOf(some.of("PodList"))
			}
			continue
		}
		for _, o := range l.items {
			out["must-gather/quay-io/cluster-scoped-resources/"+group+"/"+plural+"/"+o["metadata"].(object)["name"].(string)+".yaml"] = "---\n" + yamlOf(o)
		}
	}
	return out
}

// clusterInfo is what kubectl cluster-info dump prints to the standard output.
func clusterInfo() string {
	return each(func(_ int, l list) string { return jsonOf(l.of(l.kind + "List")) }) +
		"==== START logs for container c of pod radio/du-1 ====\n{\"level\":\"info\"}\napiVersion: this is a log\n==== END logs for container c of pod radio/du-1 ====\n"
}

// pairs are keys of etcd's with their values.
func pairs() (keys, values []string) {
	block := leak()[3].items[0]["spec"]
	return []string{
			"/calico/ipam/v2/assignment/ipv4/block/10.10.0.0-30", "/calico/ipam/v2/host/w1/ipv4/block/10.10.0.0-30",
			"/calico/ipam/v2/handle/k8s-pod-network.du-1", "/calico/ipam/v2/handle/k8s-pod-network.du-2",
		}, []string{
			compactOf(block), compactOf(object{"state": "confirmed"}),
			compactOf(object{"handleID": "k8s-pod-network.du-1", "block": object{"10.10.0.0/30": 1}}), compactOf(object{"handleID": "k8s-pod-network.du-2", "block": object{"10.10.0.0/30": 1}}),
		}
}

// etcd is the record as etcdctl prints it, with nodes, pods and pools as kubectl does.
func etcdWith(record string) string {
	return each(func(i int, l list) string {
		if i == 3 {
			return record
		}
		return "$ " + l.kubectl() + "\n" + yamlOf(l.of("List"))
	})
}

func etcdSimple() string {
	var b strings.Builder
	b.WriteString("$ etcdctl get --prefix /calico/ipam/v2\n")
	keys, values := pairs()
	for i := range keys {
		b.WriteString(keys[i] + "\n" + values[i])
	}
	return etcdWith(b.String())
}

func etcdJSON() string {
	var kvs []any
	keys, values := pairs()
	for i := range keys {
		kvs = append(kvs, object{"key": base64.StdEncoding.EncodeToString([]byte(keys[i])), "create_revision": 7, "value": base64.StdEncoding.EncodeToString([]byte(values[i]))})
	}
	return etcdWith(compactOf(object{"header": object{"cluster_id": 1}, "kvs": kvs, "count": len(kvs)}))
}

func etcdFields() string {
	var b strings.Builder
	b.WriteString("$ etcdctl get --prefix /calico/ipam/v2 -w fields\n\"ClusterID\" : 1\n")
	keys, values := pairs()
	for i := range keys {
		fmt.Fprintf(&b, "\"Key\" : %q\n\"CreateRevision\" : 7\n\"Value\" : %q\n", keys[i], strings.TrimSpace(values[i]))
	}
	return etcdWith(b.String())
}

// report is what calicoctl ipam check -o writes.
func report() object {
	allocation := func(ip, pod string, inUse bool, owners ...string) []any {
		return []any{object{"ip": ip, "handle": "k8s-pod-network." + pod, "pod": pod, "namespace": "radio", "node": "w1", "inUse": inUse, "owners": owners}}
	}
	return object{"version": "v3.31.0", "clusterGUID": "4c4d", "clusterType": "k8s,bgp", "allocations": object{
		"10.10.0.1": allocation("10.10.0.1", "du-1", true, "Workload(radio/w1-k8s-du--1-eth0)"), leaked: allocation(leaked, "du-2", false),
	}}
}

const checkText = `Checking IPAM for inconsistencies...

Loading all IPAM blocks...
Found 1 IPAM blocks.
 IPAM block 10.10.0.0/30 affinity=host:w1:
  10.10.0.1 allocated; attrs Main:k8s-pod-network.du-1 Extra:namespace=radio,node=w1,pod=du-1
  10.10.0.2 allocated; attrs Main:k8s-pod-network.du-2 Extra:namespace=radio,node=w1,pod=du-2
IPAM blocks record 2 allocations.

Loading all IPAM pools...
  10.10.0.0/24
Found 1 active IP pools.

Loading all workload endpoints.
  10.10.0.1 belongs to Workload(radio/w1-k8s-du--1-eth0)
Found 1 workload IPs.
Scanning for IPs that are allocated but not actually in use...
  10.10.0.2 leaked; attrs Main:k8s-pod-network.du-2 Extra:namespace=radio,node=w1,pod=du-2
Found 1 IPs that are allocated in IPAM but not actually in use.
Check complete; found 1 problems.
`

func tarOf(f pasted) string {
	var b bytes.Buffer
	w := tar.NewWriter(&b)
	for _, name := range sortedNames(f) {
		if err := w.WriteHeader(&tar.Header{Name: name, Size: int64(len(f[name])), Mode: 0o600, Typeflag: tar.TypeReg}); err != nil {
			panic(err)
		}
		_, _ = w.Write([]byte(f[name]))
	}
	_ = w.Close()
	return b.String()
}

func zipOf(f pasted) string {
	var b bytes.Buffer
	w := zip.NewWriter(&b)
	for _, name := range sortedNames(f) {
		x, err := w.Create(name)
		if err != nil {
			panic(err)
		}
		_, _ = x.Write([]byte(f[name]))
	}
	_ = w.Close()
	return b.String()
}

func gzipOf(s string) string {
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	_, _ = w.Write([]byte(s))
	_ = w.Close()
	return b.String()
}

func sortedNames(f pasted) []string {
	var names []string
	for name := range f {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

func utf16Of(s string) string {
	out := []byte{0xff, 0xfe}
	for _, u := range utf16.Encode([]rune(s)) {
		out = append(out, byte(u), byte(u>>8))
	}
	return string(out)
}

// form is one way to paste the leak. want is part of the error; "": it is found. unsure:
// nothing in it shows that it has all pods, so that the leak is no more than possible.
type form struct {
	name   string
	files  pasted
	want   string
	unsure bool
}

// TestPastedForms: the same leak is found in whatever form people paste it, or the error says
// what to do. The log has the share that is read.
func TestPastedForms(t *testing.T) {
	r := scenariotest.Runner(t)
	readable, asRead := 0, 0
	all := forms()
	for _, x := range all {
		if x.want == "" {
			readable++
		}
		t.Run(x.name, func(t *testing.T) {
			c := dump.New(managers.All())
			err := (&bundle.Reader{Cluster: c}).Read(x.write(t))
			var is answer
			if err == nil {
				is = importAll(r, c, "leak")
				err = is.err
			}
			switch {
			case x.want != "" && (err == nil || !strings.Contains(err.Error(), x.want)):
				t.Errorf("got %v, want …%s…", err, x.want)
			case x.want != "":
			case err != nil:
				t.Error(err)
			case x.unsure:
				if wrong := is.unsure("radio/du-2", leaked); wrong != "" {
					t.Error(wrong)
					return
				}
				asRead++
			default:
				var found []string
				for _, f := range is.findings.All {
					found = append(found, f.Invariant+": "+f.Message)
				}
				if len(found) != 1 || is.findings.All[0].Invariant != invariant.LeakedClaim.Name || !strings.Contains(found[0], leaked) {
					t.Errorf("found %q; %q", found, is.report.Unknown)
					return
				}
				asRead++
			}
		})
	}
	t.Logf("%d forms: %d of %d that can be read are read, %d are refused with what to do", len(all), asRead, readable, len(all)-readable)
}

// unsure is what is wrong in an answer that should say that the claim of a pod may be leaked,
// and no more: no remediation, and nothing is called healthy.
func (is *answer) unsure(pod, addr string) string {
	all := is.report.Absent
	switch {
	case len(is.findings.All) > 0 || strings.Contains(is.printed, "remediation"):
		return "something is taken to be certain: " + is.printed
	case is.findings.Verdict(model.Minor) != imported.Undecided:
		return "not undecided: " + is.printed
	case len(all) != 1 || all[0].Pod != pod || !all[0].Claimed || fmt.Sprint(all[0].Addrs) != "["+addr+"]":
		return fmt.Sprintf("absent: %v", all)
	case !strings.Contains(is.printed, fmt.Sprintf("possible: leaked-claim (minor): %s is claimed for %s, which is not in the dump", addr, pod)):
		return "does not say what is possible: " + is.printed
	}
	return ""
}

// write writes the files of a form, and returns what a user would name.
func (x *form) write(t *testing.T) []string {
	t.Helper()
	dir := t.TempDir()
	if to := os.Getenv("IPAMSIM_FORMS"); to != "" { // for other programs
		dir = filepath.Join(to, strings.ReplaceAll(x.name, "/", "_"))
	}
	for _, name := range sortedNames(x.files) {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(x.files[name]), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if len(x.files) == 1 {
		return []string{filepath.Join(dir, sortedNames(x.files)[0])}
	}
	return []string{dir}
}
