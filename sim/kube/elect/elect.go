// Package elect runs a function only in the leader of several processes.
package elect

import (
	"context"
	"errors"
	"time"

	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/leaderelection"
	"k8s.io/client-go/tools/leaderelection/resourcelock"
)

// ErrDeposed is the error of a process that lost the leadership.
var ErrDeposed = errors.New("leaderelection lost")

// Options configure a candidate.
type Options struct {
	Namespace, Name     string // of the Lease
	Identity            string // unique
	Lease, Renew, Retry time.Duration
}

// Validate returns the error with which a candidate would not start.
func (o Options) Validate() error {
	_, err := o.elector(&resourcelock.LeaseLock{LockConfig: resourcelock.ResourceLockConfig{Identity: o.Identity}}, leaderelection.LeaderCallbacks{
		OnStartedLeading: func(context.Context) {}, OnStoppedLeading: func() {},
	})
	return err
}

func (o Options) elector(lock resourcelock.Interface, do leaderelection.LeaderCallbacks) (*leaderelection.LeaderElector, error) {
	return leaderelection.NewLeaderElector(leaderelection.LeaderElectionConfig{
		Lock: lock, Name: o.Name, LeaseDuration: o.Lease, RenewDeadline: o.Renew, RetryPeriod: o.Retry, Callbacks: do,
	})
}

// Run waits until the process is the leader, then leads, and returns where a program of
// Kubernetes exits: with the error of lead, if it returns while it leads, or ErrDeposed.
// Goroutines of lead run until ctx ends, which must be soon: the process has ended.
//
// The Events of the election are not recorded.
//
// Source: cmd/kube-controller-manager/app, leaderElectAndRun (v1.37.2).
func Run(ctx context.Context, config *rest.Config, o Options, lead func(context.Context) error) error {
	lock, err := resourcelock.NewFromKubeconfig(resourcelock.LeasesResourceLock, o.Namespace, o.Name,
		resourcelock.ResourceLockConfig{Identity: o.Identity}, config, o.Renew)
	if err != nil {
		return err
	}
	ended := make(chan error, 1)
	leader, err := o.elector(lock, leaderelection.LeaderCallbacks{
		OnStartedLeading: func(ctx context.Context) {
			if err := lead(ctx); err != nil && ctx.Err() == nil {
				ended <- err
			}
		},
		OnStoppedLeading: func() { ended <- ErrDeposed },
	})
	if err != nil {
		return err
	}
	go leader.Run(ctx)
	return <-ended
}
