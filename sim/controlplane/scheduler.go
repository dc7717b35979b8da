package controlplane

import (
	"context"
	"net/http"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/events"
	"k8s.io/kubernetes/pkg/scheduler"

	"ipamsim/sim/kube"
	"ipamsim/sim/kube/early"
	"ipamsim/sim/kube/elect"
)

// Scheduler runs kube-scheduler with its default profile. config is the result of
// ParseScheduler; nil: no flags. With an identity, which must be unique, it waits until it is
// the leader. It returns when ctx ends, or with elect.ErrDeposed when it loses the leadership.
//
// Source: cmd/kube-scheduler/app, Setup and Run (v1.37.2).
func Scheduler(ctx context.Context, rt http.RoundTripper, config *SchedulerConfig, identity string) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	if config == nil {
		var err error
		if config, err = ParseScheduler(nil); err != nil {
			return err
		}
	}
	conf := kube.Config(withoutEvents{rt})
	conf.QPS, conf.Burst, conf.ContentType = config.QPS, int(config.Burst), config.ContentType
	client, err := kubernetes.NewForConfig(conf)
	if err != nil {
		return err
	}
	restore := early.QuietQueues()
	f := schedulerInformers(client, rt)
	s, err := scheduler.New(ctx, client, f, nil, func(string) events.EventRecorderLogger { return &events.FakeRecorder{} },
		scheduler.WithPodMaxInUnschedulablePodsDuration(config.PodMaxInUnschedulablePodsDuration))
	restore()
	if err != nil {
		return err
	}
	f.Start(ctx.Done())
	f.WaitForCacheSync(ctx.Done())
	if err := s.WaitForHandlersSync(ctx); err != nil {
		return err
	}
	run := func(ctx context.Context) error {
		s.Run(ctx)
		forgetDebugger()
		f.Shutdown()
		return ctx.Err()
	}
	if identity == "" {
		return run(ctx)
	}
	return elect.Run(ctx, conf, candidate(config.LeaderElection, identity), run)
}

// schedulerInformers are the informers that kube-scheduler creates.
func schedulerInformers(client kubernetes.Interface, rt http.RoundTripper) informers.SharedInformerFactory {
	if way, ok := kube.ObjectsOf(rt, corev1.SchemeGroupVersion.WithResource("pods"), &corev1.Pod{}); ok {
		client = podsClient{client, way}
	}
	return &factory{SharedInformerFactory: scheduler.NewInformerFactory(client, 0, nil), rt: rt}
}
