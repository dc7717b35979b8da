package dump_test

import (
	"bytes"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"ipamsim/cmd/managers"
	"ipamsim/scenarios/dump"
	"ipamsim/scenarios/dump/dumptest"
)

// changed is a dump with some bytes or lines of it, or of another one, elsewhere.
func changed(rng *rand.Rand, text, other []byte) []byte {
	out := bytes.Clone(text)
	for range 1 + rng.IntN(4) {
		i, j := rng.IntN(len(out)), rng.IntN(len(out))
		i, j = min(i, j), max(i, j)
		switch rng.IntN(7) {
		case 0:
			out[i] = byte(rng.IntN(256))
		case 1:
			out[i] = "{}[]:-\"'\n #&*|>0"[rng.IntN(16)]
		case 2:
			out = out[:j+1]
		case 3:
			out = append(out[:i], out[min(j, i+rng.IntN(40)):]...)
		case 4:
			k := rng.IntN(len(other))
			out = append(out[:i:i], append(bytes.Clone(other[k:min(len(other), k+rng.IntN(200))]), out[i:]...)...)
		case 5:
			lines := bytes.SplitAfter(out, []byte("\n"))
			a, b := rng.IntN(len(lines)), rng.IntN(len(lines))
			lines[a], lines[b] = lines[b], lines[a]
			out = bytes.Join(lines, nil)
		case 6:
			out = bytes.ReplaceAll(out, []byte{out[i]}, []byte{out[j]})
		}
		if len(out) == 0 {
			return []byte("x")
		}
	}
	return out
}

// TestAnyDump: dumps with something wrong in them are refused in one line, or make a
// scenario that loads. FuzzImport goes further.
func TestAnyDump(t *testing.T) {
	var all [][]byte
	for _, name := range []string{"calico.json", "check.txt", "export.txt", "show.txt", "tkg.yaml", "whereabouts.yaml"} {
		text, err := os.ReadFile(filepath.Join("testdata", name))
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, text)
		if name == "tkg.yaml" {
			all = append(all, dumptest.Archives(text)...)
		}
	}
	rng := rand.New(rand.NewPCG(7, 7))
	until := time.Now().Add(4 * time.Second)
	n := 0
	for ; time.Now().Before(until); n++ {
		text := changed(rng, all[rng.IntN(len(all))], all[rng.IntN(len(all))])
		if err := dumptest.Check(managers.All(), text); err != nil {
			t.Fatalf("%v\n%q", err, text)
		}
	}
	t.Logf("%d dumps", n)
}

// refuses is the line with which something is refused.
func refuses(t *testing.T, r io.Reader) string {
	t.Helper()
	c := dump.New(managers.All())
	err := c.Read("F", r, nil)
	if err == nil && len(c.Damages) > 0 { // the rest is used
		err = c.Damages[0].Err
	}
	if err == nil {
		_, _, err = c.Scenario(dump.Options{})
	}
	if err == nil {
		t.Fatal("nothing is refused")
	}
	if s := err.Error(); strings.Contains(s, "\n") || !strings.HasPrefix(s, "F") {
		t.Errorf("no line with a file: %q", s)
	}
	return err.Error()
}

const pool = "apiVersion: crd.projectcalico.org/v1\nkind: IPPool\nmetadata: {name: p}\nspec: {cidr: 10.0.0.0/24}\n"

// Files that are damaged, or something else: one line that says what to do.
func TestRefused(t *testing.T) {
	list, err := os.ReadFile("testdata/tkg.yaml")
	if err != nil {
		t.Fatal(err)
	}
	_, list, _ = bytes.Cut(list, []byte("\n")) // the comment with the command
	json, err := os.ReadFile("testdata/calico.json")
	if err != nil {
		t.Fatal(err)
	}
	bomb := "kind: &a [x,x,x,x,x,x,x,x,x]\n"
	for c := 'b'; c < 'l'; c++ {
		bomb += fmt.Sprintf("%c: &%c [*%c,*%c,*%c,*%c,*%c,*%c,*%c,*%c,*%c]\n", c, c, c-1, c-1, c-1, c-1, c-1, c-1, c-1, c-1, c-1)
	}
	for _, x := range []struct{ name, text, want string }{
		{"empty", "", "F: empty"},
		{"cut between two pods", string(list[:bytes.LastIndex(list, []byte("\n- apiVersion"))+1]), "F:1: the list that begins here has no kind at its end: the file is cut off, dump it again"},
		{"cut in a word", string(list[:len(list)-200]), "cut off"},
		{"JSON cut", string(json[:len(json)/2]), "F:1: the JSON that begins here ends in the middle: the file is cut off, dump it again"},
		{"JSON with a mistake", strings.Replace(string(json), `"kind": "IPAMConfig"`, `"kind": IPAMConfig`, 1), "F:10: not JSON: invalid character 'I' looking for beginning of value"},
		{"a mistake in YAML", strings.Replace(string(list), "    namespace: nstest\n", "   namespace: nstest\n", 1), "F:"},
		{"gzip", "\x1f\x8b\x08\x00abc", "F: compressed with gzip: unpack it first"},
		{"binary", "apiVersion: v1\n\x00\x01\x02", "F:2: binary"},
		{"HTML", "\n<!DOCTYPE html>\n<html>", "F:2: looks like HTML"},
		{"a table of kubectl's", "NAME                READY   STATUS\nweb-0   1/1  Running\n", "F:1: a table of kubectl, which omits most fields: add -o yaml"},
		{"bomb", bomb, "F:"},
		{"deep", "kind: " + strings.Repeat("[", 5000), "nested more than 100 levels deep"},
		{"deep JSON", `{"a":` + strings.Repeat("[", 5000) + strings.Repeat("]", 5000) + "}", "nested more than 100 levels deep"},
		{"no object", "- a\n- b\n", "F:1: want an object with apiVersion and kind"},
		{"no kind", "a: b\n", "F:1: no apiVersion and kind"},
		{"no manager", "apiVersion: v1\nkind: Pod\nmetadata: {name: x}\n", "F: no Calico IPPool, no Calico IPPool with allowedUses LoadBalancer, no IPAddressPool of MetalLB, no Node with spec.podCIDR, no Service with a cluster IP, no Whereabouts pool or network, only 1 Pod: want the output of the command"},
		{"not UTF-8", pool + "---\nkind: Pod\napiVersion: v1\nmetadata: {name: \"\xff\"}\n", "F:"},
		{"a bad block", "apiVersion: crd.projectcalico.org/v1\nkind: IPAMBlock\nmetadata: {name: b}\nspec: {cidr: 10.0.0.0/30, allocations: [null], attributes: []}\n", "F:1: IPAMBlock b: spec.allocations: 1 entries, a block 10.0.0.0/30 has 4 addresses"},
		{"a bad pool", strings.Replace(pool, "10.0.0.0/24", "10.0.0.0/240", 1), `F:1: IPPool p: spec.cidr: "10.0.0.0/240" is no CIDR`},
		{"twice, not the same", pool + "---\n" + strings.Replace(pool, "/24", "/25", 1), "F:6: IPPool p: is also in F:1, with different content, and neither is newer: remove one"},
		{"half a table", "+-----+\n| GROUPING | CIDR |\n+----+\n", "a table without its last line"},
	} {
		t.Run(x.name, func(t *testing.T) {
			if got := refuses(t, strings.NewReader(x.text)); !strings.Contains(got, x.want) {
				t.Errorf("got %q, want %q", got, x.want)
			}
		})
	}
}

// endless is a line without an end.
type endless struct{ b byte }

func (e endless) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = e.b
	}
	return len(p), nil
}

// A line, a string or an object that never ends is refused before it fills memory.
func TestEndless(t *testing.T) {
	for name, x := range map[string]struct{ head, want string }{
		"line":   {"kind: ", "F:1: a line of more than 16 MiB"},
		"JSON":   {`{"kind": "`, "F:1: an object of more than 32 MiB"},
		"array":  {`{"items": [{"a": "`, "an object of more than 32 MiB"},
		"object": {"kind: Pod\nmetadata:\n  annotations: |\n", "F:4: a line of more than 16 MiB"},
	} {
		t.Run(name, func(t *testing.T) {
			if got := refuses(t, io.MultiReader(strings.NewReader(x.head), endless{'a'})); !strings.Contains(got, x.want) {
				t.Errorf("got %q, want %q", got, x.want)
			}
		})
	}
	lines := io.MultiReader(strings.NewReader("items:\n- kind: Pod\n  data:\n"), lineAfterLine{})
	if got := refuses(t, lines); !strings.Contains(got, "F:2: an object of more than 32 MiB") {
		t.Error(got)
	}
}

type lineAfterLine struct{}

func (lineAfterLine) Read(p []byte) (int, error) {
	return copy(p, "    x: aaaaaaaaaaaaaaaaaaaaaaa\n"), nil
}

// The same object in two files is one object; of two that differ the newer one counts,
// and that is said.
func TestTwice(t *testing.T) {
	if _, _, r := scenario(t, read(t, "tkg.yaml", "tkg.yaml"), dump.Options{}); r.Pods != 3 || len(r.Left) != 0 || len(r.Unknown) != 2 {
		t.Errorf("%+v", r)
	}
	c := read(t, "tkg.yaml")
	newer := `apiVersion: v1
kind: Pod
metadata: {name: app-6d5f9c7b6d-2xk4p, namespace: nstest, resourceVersion: "100000"}
spec: {nodeName: worker-1}
status: {phase: Failed}
`
	if err := c.Read("later", strings.NewReader(newer), nil); err != nil {
		t.Fatal(err)
	}
	_, _, r := scenario(t, c, dump.Options{})
	contains(t, "left", r.Left, "Pod nstest/app-6d5f9c7b6d-2xk4p of tkg.yaml:143: later:1 has a newer one")
	if r.Pods != 2 {
		t.Errorf("%d pods", r.Pods)
	}
}

// Windows' ends of lines, a mark at the beginning, lists in lists, one object a line.
func TestForms(t *testing.T) {
	yaml, err := os.ReadFile("testdata/tkg.yaml")
	if err != nil {
		t.Fatal(err)
	}
	_, yaml, _ = bytes.Cut(yaml, []byte("\n")) // the comment with the command
	crlf := "\ufeff" + strings.ReplaceAll(string(yaml), "\n", "\r\n")
	indented := "items:\n" + strings.ReplaceAll(strings.TrimPrefix(string(yaml[:bytes.LastIndex(yaml, []byte("kind: List"))]), "apiVersion: v1\nitems:\n"), "\n", "\n  ")
	indented = "kind: List\napiVersion: v1\n" + strings.Replace(indented, "items:\n- ", "items:\n  - ", 1)
	want, _, _ := scenario(t, read(t, "tkg.yaml"), dump.Options{})
	for name, text := range map[string]string{"crlf": crlf, "indented": indented} {
		c := dump.New(managers.All())
		if err := c.Read("tkg.yaml", strings.NewReader(text), nil); err != nil {
			t.Fatal(name, err)
		}
		if got, _, _ := scenario(t, whole(c), dump.Options{}); got != want {
			t.Errorf("%s: another scenario", name)
		}
	}
	lines := `{"apiVersion":"v1","kind":"PodList","metadata":{"resourceVersion":"5"},"items":[{"metadata":{"name":"a","namespace":"x"},"spec":{"nodeName":"n"}}]}
{"apiVersion":"crd.projectcalico.org/v1","kind":"IPPool","metadata":{"name":"p"},"spec":{"cidr":"10.0.0.0/24"}}
[{"apiVersion":"v1","kind":"Node","metadata":{"name":"n"}}]
---
apiVersion: v1
kind: Node
metadata:
  name: m
`
	c := dump.New(managers.All())
	if err := c.Read("lines", strings.NewReader(lines), nil); err != nil {
		t.Fatal(err)
	}
	if _, _, r := scenario(t, c, dump.Options{}); r.Nodes != 2 {
		t.Errorf("%+v", r)
	}
}
