package controlplane

import (
	"context"
	"net/http"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/events"
	"k8s.io/kubernetes/pkg/scheduler"

	"ipamsim/sim/controlplane/early"
	"ipamsim/sim/kube"
)

// The limits of kube-scheduler's client.
//
// Source: pkg/scheduler/apis/config/v1, SetDefaults_KubeSchedulerConfiguration (v1.34.1).
const (
	schedulerQPS   = 50
	schedulerBurst = 100
)

// Scheduler is kube-scheduler with its default profile. It returns when ctx ends.
//
// Source: cmd/kube-scheduler/app, Setup and Run (v1.34.1).
func Scheduler(ctx context.Context, rt http.RoundTripper) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	conf := kube.Config(withoutEvents{rt})
	conf.QPS, conf.Burst, conf.ContentType = schedulerQPS, schedulerBurst, "application/vnd.kubernetes.protobuf"
	client, err := kubernetes.NewForConfig(conf)
	if err != nil {
		return err
	}
	restore := early.QuietQueues()
	f := schedulerInformers(client, rt)
	s, err := scheduler.New(ctx, client, f, nil, func(string) events.EventRecorder { return &events.FakeRecorder{} })
	restore()
	if err != nil {
		return err
	}
	f.Start(ctx.Done())
	f.WaitForCacheSync(ctx.Done())
	if err := s.WaitForHandlersSync(ctx); err != nil {
		return err
	}
	s.Run(ctx)
	forgetDebugger()
	f.Shutdown()
	return ctx.Err()
}

// schedulerInformers are those that kube-scheduler makes.
func schedulerInformers(client kubernetes.Interface, rt http.RoundTripper) informers.SharedInformerFactory {
	if way, ok := kube.ObjectsOf(rt, corev1.SchemeGroupVersion.WithResource("pods"), &corev1.Pod{}); ok {
		client = podsClient{client, way}
	}
	return &factory{SharedInformerFactory: scheduler.NewInformerFactory(client, 0), rt: rt}
}
