package controlplane

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/spf13/pflag"
	"k8s.io/kubernetes/cmd/kube-controller-manager/app/options"
	scheduleroptions "k8s.io/kubernetes/cmd/kube-scheduler/app/options"
)

// Without flags the configuration is that of Kubernetes' own defaults.
func TestDefaults(t *testing.T) {
	c, err := ManagerConfig(nil)
	if err != nil {
		t.Fatal(err)
	}
	o, err := options.NewKubeControllerManagerOptions()
	if err != nil {
		t.Fatal(err)
	}
	o.NodeLifecycleController.AddFlags(pflag.NewFlagSet("", pflag.ContinueOnError)) // which sets other defaults
	if d := cmp.Diff(*o.NodeLifecycleController.NodeLifecycleControllerConfiguration, c.NodeLifecycleController); d != "" {
		t.Error(d)
	}
	if d := cmp.Diff(o.Generic.LeaderElection, c.Generic.LeaderElection); d != "" {
		t.Error(d)
	}
	if d := cmp.Diff(*o.PodGCController.PodGCControllerConfiguration, c.PodGCController); d != "" {
		t.Error(d)
	}
	s, err := ParseScheduler(nil)
	if err != nil {
		t.Fatal(err)
	}
	if want := scheduleroptions.NewOptions(); *want.LeaderElection != s.LeaderElection || s.QPS != 50 || s.Burst != 100 {
		t.Errorf("%+v", s)
	}
}

// Flags have the same meaning as for the real programs.
func TestFlags(t *testing.T) {
	c, err := ManagerConfig([]Flag{
		{"node-monitor-grace-period", "20s"}, {"terminated-pod-gc-threshold", "3"}, {"unhealthy-zone-threshold", "0.9"},
		{"large-cluster-size-threshold", "2"}, {"controllers", "*,-garbage-collector-controller"}, {"node-monitor-period", "1s"},
	})
	if err != nil {
		t.Fatal(err)
	}
	n := c.NodeLifecycleController
	if n.NodeMonitorGracePeriod.Duration != 20*time.Second || c.PodGCController.TerminatedPodGCThreshold != 3 || n.UnhealthyZoneThreshold != 0.9 ||
		n.LargeClusterSizeThreshold != 2 || c.NodeLifecycleController.NodeMonitorPeriod.Duration != time.Second || n.NodeEvictionRate != 0.1 {
		t.Errorf("%+v %+v", n, c.PodGCController)
	}
	if !slices.Equal(c.Generic.Controllers, []string{"*", "-garbage-collector-controller"}) {
		t.Errorf("controllers %q", c.Generic.Controllers)
	}
}

// Flags with which the programs would not start, or that are not simulated, are reported.
func TestBadFlags(t *testing.T) {
	for _, x := range []struct {
		scheduler   bool
		name, value string
		want        string
	}{
		{false, "node-monitor-grace", "1s", "--node-monitor-grace is no flag of a simulated kube-controller-manager"},
		{false, "feature-gates", "A=true", "--feature-gates is no flag of a simulated kube-controller-manager"},
		{false, "node-monitor-grace-period", "soon", `invalid argument "soon" for "--node-monitor-grace-period" flag`},
		{false, "node-monitor-period", "0s", "--node-monitor-period: want at least 100ms"},
		{false, "concurrent-deployment-syncs", "1000000", "--concurrent-deployment-syncs: want 1 to 100"},
		{false, "kube-api-content-type", "text/plain", `--kube-api-content-type: "text/plain", want application/json or application/vnd.kubernetes.protobuf`},
		{false, "controllers", "*,-nobody", `"nobody" is not in the list of known controllers`},
		{false, "leader-elect-renew-deadline", "1m", "leaseDuration must be greater than renewDeadline"},
		{true, "leader-elect-resource-lock", "endpoints", `--leader-elect-resource-lock: want "leases"`},
		{true, "profiling", "true", "--profiling is no flag of a simulated kube-scheduler"},
	} {
		flags := []Flag{{"leader-elect", "true"}, {x.name, x.value}}
		_, err := ManagerConfig(flags)
		if x.scheduler {
			_, err = ParseScheduler(flags)
		}
		var bad *FlagError
		if !errors.As(err, &bad) || bad.At != 1 || !strings.Contains(bad.Error(), x.want) {
			t.Errorf("--%s=%s: %v, want %s", x.name, x.value, err, x.want)
		}
	}
}
