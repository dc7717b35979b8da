package scenarios_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/netip"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"

	"ipamsim/cmd/managers"
	"ipamsim/model"
	"ipamsim/reports"
	"ipamsim/reports/golden"
	"ipamsim/scenarios"
)

// A twin is a scenario of IPv4 in dual stack: each pool has a second one of IPv6 with as
// many addresses and blocks, each node and pod an address of either family. What breaks
// in one family breaks in the other, and as often as without the other.
var twins = []string{
	"b[1-4]-*", "w[1-6]-*", "calico-8643-*", "found-calico-disabled-pool-cuts-off", "found-calico-tunnel-*",
}

// TestTwins holds what each scenario breaks against testdata/twins.txt, and what its twin
// breaks in either family where that is something else. Without -full the short ones run.
func TestTwins(t *testing.T) {
	r := runner(t)
	known, err := os.ReadFile("testdata/twins.txt")
	if err != nil {
		t.Fatal(err)
	}
	lines := map[string]string{}
	for line := range strings.Lines(string(known)) {
		name, _, _ := strings.Cut(line, ":")
		lines[name] = line
	}
	ran := 0
	for _, file := range twinFiles(t) {
		name := strings.TrimSuffix(file, ".yaml")
		if !*full && stepsIn(file) > 1500 {
			continue
		}
		ran++
		// The scheduler of Kubernetes' own binds equal pods to nodes at random: a twin's would lie
		// elsewhere. The simple one binds them to the same.
		var o scenarios.Options
		if seed, is := simpleSeeds[name]; is {
			o.Seed = &seed
		}
		want := brokenIn(run(t, r, load(t, file), o), true)
		rep := run(t, r, twinOf(t, file).WithSimpleControllers(), o)
		four, six := brokenIn(rep, true), brokenIn(rep, false)
		if four != want || six != want {
			want += fmt.Sprintf("; its twin: IPv4 %s, IPv6 %s", four, six)
		}
		lines[name] = name + ": " + want + "\n"
	}
	t.Logf("%d twins", ran)
	var out strings.Builder
	for _, name := range slices.Sorted(maps.Keys(lines)) {
		out.WriteString(lines[name])
	}
	golden.Check(t, "testdata/twins.txt", out.String())
}

// simpleSeeds are of scenarios whose own seed shows what they are about under Kubernetes'
// own controllers only.
var simpleSeeds = map[string]uint64{
	"calico-8643-deleted-node-tunnel":         4,
	"found-calico-tunnel-address-freed-first": 1,
	"found-calico-tunnel-change-forgotten":    1,
}

func twinFiles(t *testing.T) (out []string) {
	t.Helper()
	for _, file := range library(t) {
		if slices.ContainsFunc(twins, func(p string) bool {
			is, err := filepath.Match(p, strings.TrimSuffix(file, ".yaml"))
			return err == nil && is && !strings.HasSuffix(file, "-ipv6.yaml")
		}) {
			out = append(out, file)
		}
	}
	return out
}

// brokenIn is what was broken in a family, and how often.
func brokenIn(rep *reports.Report, four bool) string {
	count := map[string]int{}
	for _, v := range rep.Violations {
		for _, o := range v.Objects {
			if o.Kind == model.RefAddress || o.Kind == model.RefBlock {
				if strings.Contains(o.Name, ":") != four {
					count[strings.TrimSuffix(v.Invariant+"/"+v.Code, "/")]++
				}
				break
			}
		}
	}
	var out []string
	for _, what := range slices.Sorted(maps.Keys(count)) {
		out = append(out, fmt.Sprintf("%d %s", count[what], what))
	}
	if out == nil {
		return "nothing"
	}
	return strings.Join(out, ", ")
}

// twinOf is the twin of a scenario's file.
func twinOf(t testing.TB, file string) *scenarios.Scenario {
	t.Helper()
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var docs []map[string]any
	for d := yaml.NewDecoder(bytes.NewReader(data)); ; {
		var doc map[string]any
		if err := d.Decode(&doc); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			t.Fatal(err)
		}
		docs = append(docs, doc)
		if doc["kind"] == "Scenario" {
			spec := doc["spec"].(map[string]any)
			spec["timeline"] = inBoth(t, spec["timeline"])
			continue
		}
		if six := sixOf(t, doc); six != nil {
			docs = append(docs, six)
		}
	}
	docs = append(docs, map[string]any{
		"apiVersion": "v1", "kind": "ConfigMap", "metadata": map[string]any{"name": "calico-config", "namespace": "kube-system"},
		"data": map[string]any{"cni_network_config": `{"name": "k8s-pod-network", "cniVersion": "0.3.1", "plugins": [{"type": "calico",
			"policy": {"type": "k8s"}, "ipam": {"type": "calico-ipam", "assign_ipv4": "true", "assign_ipv6": "true"}}]}`},
	})
	var text bytes.Buffer
	e := yaml.NewEncoder(&text)
	for _, d := range docs {
		if err := e.Encode(d); err != nil {
			t.Fatal(err)
		}
	}
	s, err := managers.All().Parse(file, text.Bytes())
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// sixOf is the object of IPv6 beside one of IPv4, or nil. A Node gets a second address.
func sixOf(t testing.TB, doc map[string]any) map[string]any {
	t.Helper()
	switch doc["kind"] {
	case "Node":
		notes := doc["metadata"].(map[string]any)["annotations"].(map[string]any)
		a := netip.MustParsePrefix(notes["projectcalico.org/IPv4Address"].(string)).Addr().As4()
		notes["projectcalico.org/IPv6Address"] = fmt.Sprintf("fd00:%d::%d/64", a[2], a[3])
		return nil
	case "IPPool", "IPAMBlock", "BlockAffinity":
	default:
		return nil
	}
	out := copied(t, doc)
	meta, spec := out["metadata"].(map[string]any), out["spec"].(map[string]any)
	was := spec["cidr"].(string)
	spec["cidr"] = prefix6(was)
	meta["name"] = strings.Replace(name6(meta["name"].(string)), "-ipv4-", "-ipv6-", 1)
	if size, ok := spec["blockSize"].(int); ok {
		spec["blockSize"] = size + 96
	}
	if spec["ipipMode"] == "Always" { // there is none in IPv6
		spec["vxlanMode"] = "Always"
	}
	delete(spec, "ipipMode")
	return out
}

// inBoth is a timeline in which what is done to an object of IPv4 is done to that of IPv6,
// and a node's table is printed of both.
func inBoth(t testing.TB, timeline any) (out []any) {
	t.Helper()
	events, _ := timeline.([]any)
	for _, e := range events {
		out = append(out, e)
		six := copied(t, e.(map[string]any))
		of := func(verb string) map[string]any { m, _ := six[verb].(map[string]any); return m }
		switch {
		case of("command") != nil && of("command")["run"] == "ip route":
			of("command")["run"] = "ip -6 route"
		case of("delete") != nil && name6(of("delete")["name"].(string)) != of("delete")["name"]:
			of("delete")["name"] = name6(of("delete")["name"].(string))
		case of("patch") != nil && of("patch")["name"] == "default-ipv4-ippool":
			of("patch")["name"] = "default-ipv6-ippool"
		case of("apply") != nil:
			sixOf(t, e.(map[string]any)["apply"].(map[string]any)["object"].(map[string]any))
			continue
		default:
			continue
		}
		out = append(out, six)
	}
	return out
}

func copied(t testing.TB, doc map[string]any) (out map[string]any) {
	t.Helper()
	b, err := yaml.Marshal(doc)
	if err == nil {
		err = yaml.Unmarshal(b, &out)
	}
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// prefix6 is where an IPv4 prefix is in IPv6: as long from the end.
func prefix6(four string) string {
	p := netip.MustParsePrefix(four)
	a := p.Addr().As4()
	six := netip.AddrFrom16([16]byte{0xfd, a[0], a[1], 0, a[2], 15: a[3]})
	return netip.PrefixFrom(six, p.Bits()+96).String()
}

// name6 is a name that ends in an IPv4 prefix, NODE-10-64-75-0-26, with that of IPv6.
func name6(name string) string {
	return dashes.ReplaceAllStringFunc(name, func(p string) string {
		f := strings.Split(p, "-")
		return strings.NewReplacer(":", "-", "/", "-").Replace(prefix6(fmt.Sprintf("%s.%s.%s.%s/%s", f[0], f[1], f[2], f[3], f[4])))
	})
}

var dashes = regexp.MustCompile(`\d+-\d+-\d+-\d+-\d+$`)
