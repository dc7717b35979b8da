package scenarios_test

import (
	"strings"
	"testing"

	"ipamsim/cmd/managers"
)

// A file of more than 8 MiB is read piece by piece, and its errors are reported as those of a small one,
// with their lines in the file.
func TestLoadInPieces(t *testing.T) {
	pad := "---\n" + strings.Repeat("# "+strings.Repeat("x", 1021)+"\n", 300)
	const head = "apiVersion: ipamsim.dev/v1alpha1\nkind: Scenario\nmetadata: {name: large}\nspec: {ipam: calico, until: 1m, nodes: [n1]}\n" +
		"---\napiVersion: crd.projectcalico.org/v1\nkind: IPPool\nmetadata: {name: p}\nspec: {cidr: 10.0.0.0/16}\n"
	pod := func(name, more string) string {
		return "---\napiVersion: v1\nkind: Pod\nmetadata: {name: " + name + "}\nspec: {nodeName: n1, containers: [{name: c, image: i}]" + more + "}\n"
	}
	many := strings.Repeat(pad, 32)
	for _, c := range []struct{ text, want string }{
		{head + many + pod("a", "") + pad + pod("b", ""), ""},
		{many + head, "want the Scenario as the first document of a file of more than 8 MiB"},
		{head + many + pod("a", ", nodename: n1"), "spec.nodename: unknown field"},
		{head + many + pod("a", "") + pad + pod("a", ""), "a second Pod default/a, the first is in line 9643"},
		{head + many + pod("a", "}"), "not YAML"},
		{head + many + head, "a second Scenario, the first begins in line 1; one file is one scenario"},
		{head + many + "---\napiVersion: crd.projectcalico.org/v1\nkind: IPAMBlock\nmetadata: {name: 10-0-0-0-26}\nspec: {cidr: 10.0.0.0/33, allocations: [], unallocated: [], attributes: [], deleted: false}\n",
			"IPAMBlock 10-0-0-0-26: spec.cidr: invalid CIDR address"},
	} {
		_, err := managers.All().Parse("large.yaml", []byte(c.text))
		switch {
		case c.want == "" && err != nil, c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)):
			t.Errorf("%v, want %q", err, c.want)
		case err == nil:
			continue
		}
		if s := err.Error(); !strings.Contains(s, "first document") && !strings.HasPrefix(s, "large.yaml:964") && !strings.HasPrefix(s, "large.yaml:995") {
			t.Errorf("the line is missing or wrong: %s", s)
		}
	}
}
