package importing

import (
	"slices"
	"testing"
)

// kubectl ipam-check is import --check of the current context.
func TestPluginArgs(t *testing.T) {
	t.Setenv("HOME", "/home/me")
	for _, x := range []struct {
		env  string
		argv []string
		want []string
	}{
		{"", []string{"/opt/ipamsim", "import"}, nil},
		{"", []string{"/krew/bin/kubectl-ipam_check"}, []string{"import", "--check", "--kubeconfig=/home/me/.kube/config"}},
		{"/a:/b", []string{"kubectl-ipam_check", "--context", "prod"}, []string{"import", "--check", "--context", "prod", "--kubeconfig=/a"}},
		{"/a", []string{"kubectl-ipam_check.exe", "--kubeconfig=/c"}, []string{"import", "--check", "--kubeconfig=/c"}},
	} {
		t.Setenv("KUBECONFIG", x.env)
		got, ok := PluginArgs(x.argv)
		if ok != (x.want != nil) || !slices.Equal(got, x.want) {
			t.Errorf("PluginArgs(%q) with KUBECONFIG=%q = %q, %t", x.argv, x.env, got, ok)
		}
	}
}
