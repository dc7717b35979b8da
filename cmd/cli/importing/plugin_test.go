package importing

import (
	"os"
	"slices"
	"testing"
)

// kubectl ipam-check is import --check of the current context.
func TestPluginArgs(t *testing.T) {
	t.Setenv("HOME", "/home/me")
	const null = "--out=" + os.DevNull
	for _, x := range []struct {
		env  string
		argv []string
		want []string
	}{
		{"", []string{"/opt/ipamsim", "import"}, nil},
		{"", []string{"/krew/bin/kubectl-ipam_check"}, []string{"import", "--check", null, "--kubeconfig=/home/me/.kube/config"}},
		{"/a:/b", []string{"kubectl-ipam_check", "--context", "prod"}, []string{"import", "--check", null, "--context", "prod", "--kubeconfig=/a"}},
		{"/a", []string{"kubectl-ipam_check.exe", "--kubeconfig=/c"}, []string{"import", "--check", null, "--kubeconfig=/c"}},
		{"/a", []string{"kubectl-ipam_check", "--help"}, []string{"import", "--check", null, "--help"}},
		{"/a", []string{"kubectl-ipam_check", "--out", "c.yaml"}, []string{"import", "--check", null, "--out", "c.yaml", "--kubeconfig=/a"}},
	} {
		t.Setenv("KUBECONFIG", x.env)
		got, ok := PluginArgs(x.argv)
		if ok != (x.want != nil) || !slices.Equal(got, x.want) {
			t.Errorf("PluginArgs(%q) with KUBECONFIG=%q = %q, %t", x.argv, x.env, got, ok)
		}
	}
}
