package controlplane

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/spf13/pflag"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	cliflag "k8s.io/component-base/cli/flag"
	componentconfig "k8s.io/component-base/config"
	componentoptions "k8s.io/component-base/config/options"
	genericoptions "k8s.io/controller-manager/options"
	"k8s.io/kubernetes/cmd/kube-controller-manager/app/options"
	scheduleroptions "k8s.io/kubernetes/cmd/kube-scheduler/app/options"
	"k8s.io/kubernetes/pkg/controller/apis/config"

	"ipamsim/sim/kube/elect"
)

// Flag is a flag of a command line, without its dashes, as kubeadm writes it.
type Flag struct{ Name, Value string }

// FlagError is a command line with which a program would not start, or that needs something
// that is not simulated.
type FlagError struct {
	At    int      // the index of the flag; -1: the combination
	Known []string // sorted; nil: the flag exists
	Err   error
}

func (e *FlagError) Error() string { return e.Err.Error() }

// ManagerConfig returns the configuration of a kube-controller-manager with flags, parsed and
// validated by its own options: those of the controllers that run here. The error is a
// *FlagError.
//
// Source: cmd/kube-controller-manager/app/options, KubeControllerManagerOptions (v1.37.2).
func ManagerConfig(flags []Flag) (*config.KubeControllerManagerConfiguration, error) {
	c, err := defaults()
	if err != nil {
		return nil, &FlagError{At: -1, Err: err}
	}
	generic := genericoptions.NewGenericControllerManagerConfigurationOptions(&c.Generic)
	var of cliflag.NamedFlagSets
	generic.AddFlags(&of, controllerNames(), nil, nil)
	set := pflag.NewFlagSet("kube-controller-manager", pflag.ContinueOnError)
	set.AddFlagSet(of.FlagSet("generic"))
	for _, o := range []interface{ AddFlags(*pflag.FlagSet) }{
		&options.CronJobControllerOptions{CronJobControllerConfiguration: &c.CronJobController},
		&options.DaemonSetControllerOptions{DaemonSetControllerConfiguration: &c.DaemonSetController},
		&options.DeploymentControllerOptions{DeploymentControllerConfiguration: &c.DeploymentController},
		&options.DisruptionControllerOptions{DisruptionControllerConfiguration: &c.DisruptionController},
		&options.GarbageCollectorControllerOptions{GarbageCollectorControllerConfiguration: &c.GarbageCollectorController},
		&options.JobControllerOptions{JobControllerConfiguration: &c.JobController},
		&options.NamespaceControllerOptions{NamespaceControllerConfiguration: &c.NamespaceController},
		&options.NodeLifecycleControllerOptions{NodeLifecycleControllerConfiguration: &c.NodeLifecycleController},
		&options.PodGCControllerOptions{PodGCControllerConfiguration: &c.PodGCController},
		&options.ReplicaSetControllerOptions{ReplicaSetControllerConfiguration: &c.ReplicaSetController},
		&options.ResourceQuotaControllerOptions{ResourceQuotaControllerConfiguration: &c.ResourceQuotaController},
		&options.StatefulSetControllerOptions{StatefulSetControllerConfiguration: &c.StatefulSetController},
		&options.TTLAfterFinishedControllerOptions{TTLAfterFinishedControllerConfiguration: &c.TTLAfterFinishedController},
	} {
		o.AddFlags(set)
	}
	if err := parse(set, flags, "controller-start-interval"); err != nil {
		return nil, err
	}
	if errs := generic.Validate(controllerNames(), nil, nil); len(errs) > 0 {
		return nil, &FlagError{At: at(flags, "controllers", "leader-elect-resource-lock"), Err: errs[0]}
	}
	return c, checkElection(flags, c.Generic.LeaderElection)
}

// SchedulerConfig is the configuration of a kube-scheduler from its flags.
type SchedulerConfig struct {
	LeaderElection componentconfig.LeaderElectionConfiguration
	scheduleroptions.DeprecatedOptions
}

// ParseScheduler is ManagerConfig for a kube-scheduler.
//
// Source: cmd/kube-scheduler/app/options, Options (v1.37.2).
func ParseScheduler(flags []Flag) (*SchedulerConfig, error) {
	c := &SchedulerConfig{LeaderElection: componentconfig.LeaderElectionConfiguration{
		LeaderElect: true, ResourceLock: "leases", ResourceName: "kube-scheduler", ResourceNamespace: "kube-system",
		LeaseDuration: seconds(15), RenewDeadline: seconds(10), RetryPeriod: seconds(2),
	}}
	set := pflag.NewFlagSet("kube-scheduler", pflag.ContinueOnError)
	c.AddFlags(set)
	componentoptions.BindLeaderElectionFlags(&c.LeaderElection, set)
	if err := parse(set, flags, "profiling", "contention-profiling", "kubeconfig"); err != nil {
		return nil, err
	}
	return c, checkElection(flags, c.LeaderElection)
}

func seconds(n int) metav1.Duration { return metav1.Duration{Duration: time.Duration(n) * time.Second} }

// parse sets the values of flags; upstream accepts the flags in out, which have no meaning
// here.
func parse(set *pflag.FlagSet, flags []Flag, out ...string) error {
	known := map[string]bool{}
	set.VisitAll(func(f *pflag.Flag) { known[f.Name] = !slices.Contains(out, f.Name) })
	maps.DeleteFunc(known, func(_ string, ok bool) bool { return !ok })
	for i, f := range flags {
		if !known[f.Name] {
			return &FlagError{At: i, Known: slices.Sorted(maps.Keys(known)), Err: fmt.Errorf("--%s is no flag of a simulated %s", f.Name, set.Name())}
		}
		err := set.Set(f.Name, f.Value)
		if err == nil {
			err = bounded(set, f.Name)
		}
		if err != nil {
			return &FlagError{At: i, Err: err}
		}
	}
	return nil
}

// The bounds of a simulated program's flags. A period below the minimum would be zero time.
const (
	workersMax = 100
	periodMin  = 100 * time.Millisecond
)

// contentTypes are the content types of the API server.
var contentTypes = []string{runtime.ContentTypeJSON, runtime.ContentTypeProtobuf}

// bounded refuses values that a run cannot support.
func bounded(set *pflag.FlagSet, name string) error {
	if d, err := set.GetDuration(name); err == nil && d < periodMin {
		return fmt.Errorf("--%s: want at least %v", name, periodMin)
	}
	if f := set.Lookup(name); name == "kube-api-content-type" && !slices.Contains(contentTypes, f.Value.String()) {
		return fmt.Errorf("--%s: %q, want %s", name, f.Value, strings.Join(contentTypes, " or "))
	}
	if n, err := set.GetInt32(name); err == nil && strings.HasPrefix(name, "concurrent-") && (n < 1 || n > workersMax) {
		return fmt.Errorf("--%s: want 1 to %d", name, workersMax)
	}
	return nil
}

// at returns the first flag with one of these names.
func at(flags []Flag, names ...string) int {
	return slices.IndexFunc(flags, func(f Flag) bool { return slices.Contains(names, f.Name) })
}

// candidate is a process that takes part in leader election.
func candidate(c componentconfig.LeaderElectionConfiguration, identity string) elect.Options {
	return elect.Options{
		Namespace: c.ResourceNamespace, Name: c.ResourceName, Identity: identity,
		Lease: c.LeaseDuration.Duration, Renew: c.RenewDeadline.Duration, Retry: c.RetryPeriod.Duration,
	}
}

func checkElection(flags []Flag, c componentconfig.LeaderElectionConfiguration) error {
	if c.ResourceLock != "leases" {
		return &FlagError{At: at(flags, "leader-elect-resource-lock"), Err: errors.New(`--leader-elect-resource-lock: want "leases"`)}
	}
	if err := candidate(c, "a").Validate(); err != nil {
		return &FlagError{At: at(flags, "leader-elect-lease-duration", "leader-elect-renew-deadline", "leader-elect-retry-period"), Err: err}
	}
	return nil
}
