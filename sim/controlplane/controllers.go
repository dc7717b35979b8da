package controlplane

import (
	"context"
	"sync"
	"time"

	"ipamsim/sim/controlplane/upstream/podgc"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apiserver/pkg/quota/v1/generic"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/metadata"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/scale"
	"k8s.io/client-go/util/flowcontrol"
	"k8s.io/controller-manager/pkg/informerfactory"
	"k8s.io/kubernetes/cmd/kube-controller-manager/names"
	"k8s.io/kubernetes/pkg/controller"
	"k8s.io/kubernetes/pkg/controller/cronjob"
	"k8s.io/kubernetes/pkg/controller/daemon"
	"k8s.io/kubernetes/pkg/controller/deployment"
	"k8s.io/kubernetes/pkg/controller/disruption"
	"k8s.io/kubernetes/pkg/controller/garbagecollector"
	"k8s.io/kubernetes/pkg/controller/job"
	"k8s.io/kubernetes/pkg/controller/namespace"
	"k8s.io/kubernetes/pkg/controller/nodelifecycle"
	"k8s.io/kubernetes/pkg/controller/replicaset"
	"k8s.io/kubernetes/pkg/controller/resourcequota"
	"k8s.io/kubernetes/pkg/controller/statefulset"
	"k8s.io/kubernetes/pkg/controller/tainteviction"
	"k8s.io/kubernetes/pkg/controller/ttlafterfinished"
	"k8s.io/kubernetes/pkg/quota/v1/install"
)

type run = func(context.Context)

// controllerNames are the controllers that --controllers may name.
func controllerNames() (all []string) {
	for _, c := range controllers {
		all = append(all, c.name)
	}
	return all
}

// controllers are the controllers of kube-controller-manager that run here, in the order of
// their start: the real one starts all at the same time. Each is created and run as by its
// function of cmd/kube-controller-manager/app: newCronJobController.
var controllers = []struct {
	name string // in --controllers
	open func(context.Context, *manager, kubernetes.Interface) (run, error)
}{
	{names.CronJobController, func(ctx context.Context, m *manager, c kubernetes.Interface) (run, error) {
		batch := m.typed.Batch().V1()
		x, err := cronjob.NewControllerV2(ctx, batch.Jobs(), batch.CronJobs(), c)
		return func(ctx context.Context) { x.Run(ctx, int(m.config.CronJobController.ConcurrentCronJobSyncs)) }, err
	}},
	{names.DaemonSetController, func(ctx context.Context, m *manager, c kubernetes.Interface) (run, error) {
		apps, core := m.typed.Apps().V1(), m.typed.Core().V1()
		x, err := daemon.NewDaemonSetsController(ctx, apps.DaemonSets(), apps.ControllerRevisions(), core.Pods(), core.Nodes(), c,
			flowcontrol.NewBackOff(1*time.Second, 15*time.Minute))
		return func(ctx context.Context) { x.Run(ctx, int(m.config.DaemonSetController.ConcurrentDaemonSetSyncs)) }, err
	}},
	{names.DeploymentController, func(ctx context.Context, m *manager, c kubernetes.Interface) (run, error) {
		apps := m.typed.Apps().V1()
		x, err := deployment.NewDeploymentController(ctx, apps.Deployments(), apps.ReplicaSets(), m.typed.Core().V1().Pods(), c)
		return func(ctx context.Context) { x.Run(ctx, int(m.config.DeploymentController.ConcurrentDeploymentSyncs)) }, err
	}},
	{names.DisruptionController, openDisruption},
	{names.GarbageCollectorController, openGarbageCollector},
	{names.JobController, func(ctx context.Context, m *manager, c kubernetes.Interface) (run, error) {
		x, err := job.NewController(ctx, c, m.typed.Core().V1().Pods(), m.typed.Batch().V1().Jobs(), nil, nil) // WorkloadWithJob is off
		return func(ctx context.Context) { x.Run(ctx, int(m.config.JobController.ConcurrentJobSyncs)) }, err
	}},
	{names.NamespaceController, openNamespace},
	{names.NodeLifecycleController, func(ctx context.Context, m *manager, c kubernetes.Interface) (run, error) {
		core, n := m.typed.Core().V1(), m.config.NodeLifecycleController
		x, err := nodelifecycle.NewNodeLifecycleController(ctx, m.leases, core.Pods(), core.Nodes(), m.typed.Apps().V1().DaemonSets(), m.leases.client(c),
			n.NodeMonitorPeriod.Duration, n.NodeStartupGracePeriod.Duration, n.NodeMonitorGracePeriod.Duration,
			n.NodeEvictionRate, n.SecondaryNodeEvictionRate, n.LargeClusterSizeThreshold, n.UnhealthyZoneThreshold)
		return func(ctx context.Context) { x.Run(ctx) }, err
	}},
	{names.PodGarbageCollectorController, func(ctx context.Context, m *manager, c kubernetes.Interface) (run, error) {
		core := m.typed.Core().V1()
		return podgc.NewPodGC(ctx, c, core.Pods(), core.Nodes(), int(m.config.PodGCController.TerminatedPodGCThreshold)).Run, nil
	}},
	{names.ReplicaSetController, func(ctx context.Context, m *manager, c kubernetes.Interface) (run, error) {
		x := replicaset.NewReplicaSetController(ctx, m.typed.Apps().V1().ReplicaSets(), m.typed.Core().V1().Pods(), c, replicaset.BurstReplicas)
		return func(ctx context.Context) { x.Run(ctx, int(m.config.ReplicaSetController.ConcurrentRSSyncs)) }, nil
	}},
	{names.ResourceQuotaController, openResourceQuota},
	{names.StatefulSetController, func(ctx context.Context, m *manager, c kubernetes.Interface) (run, error) {
		apps, core := m.typed.Apps().V1(), m.typed.Core().V1()
		x := statefulset.NewStatefulSetController(ctx, core.Pods(), apps.StatefulSets(), core.PersistentVolumeClaims(), apps.ControllerRevisions(), c)
		return func(ctx context.Context) { x.Run(ctx, int(m.config.StatefulSetController.ConcurrentStatefulSetSyncs)) }, nil
	}},
	{names.TaintEvictionController, func(ctx context.Context, m *manager, c kubernetes.Interface) (run, error) {
		core := m.typed.Core().V1()
		x, err := tainteviction.New(ctx, c, core.Pods(), core.Nodes(), "taint-eviction-controller")
		return func(ctx context.Context) { x.Run(ctx) }, err
	}},
	{names.TTLAfterFinishedController, func(ctx context.Context, m *manager, c kubernetes.Interface) (run, error) {
		x := ttlafterfinished.New(ctx, m.typed.Batch().V1().Jobs(), c)
		return func(ctx context.Context) { x.Run(ctx, int(m.config.TTLAfterFinishedController.ConcurrentTTLSyncs)) }, nil
	}},
}

func openDisruption(ctx context.Context, m *manager, c kubernetes.Interface) (run, error) {
	mapper := m.serves.mapper()
	scales, err := scale.NewForConfig(m.conf, mapper, dynamic.LegacyAPIPathResolverFunc, m.serves)
	if err != nil {
		return nil, err
	}
	core, apps := m.typed.Core().V1(), m.typed.Apps().V1()
	x := disruption.NewDisruptionController(ctx, core.Pods(), m.typed.Policy().V1().PodDisruptionBudgets(), core.ReplicationControllers(),
		apps.ReplicaSets(), apps.Deployments(), apps.StatefulSets(), c, mapper, scales, versions{s: m.serves})
	return func(ctx context.Context) { x.Run(ctx, int(m.config.DisruptionController.ConcurrentDisruptionSyncs)) }, nil
}

// versions is discovery for clients that only ask for the resources of a group and version.
type versions struct {
	discovery.DiscoveryInterface
	s served
}

func (v versions) ServerResourcesForGroupVersion(gv string) (*metav1.APIResourceList, error) {
	return v.s.ServerResourcesForGroupVersion(gv)
}

func openGarbageCollector(ctx context.Context, m *manager, c kubernetes.Interface) (run, error) {
	if !m.config.GarbageCollectorController.EnableGarbageCollector {
		return func(context.Context) {}, nil
	}
	conf := rest.CopyConfig(m.conf)
	conf.QPS *= 2
	partial, err := metadata.NewForConfig(conf)
	if err != nil {
		return nil, err
	}
	x, err := garbagecollector.NewGarbageCollector(ctx, c, partial, m.serves.mapper(), garbagecollector.DefaultIgnoredResources(),
		informerfactory.NewInformerFactory(m.typed, m.partial), m.started)
	const period = 30 * time.Second
	return func(ctx context.Context) {
		var wg sync.WaitGroup
		wg.Go(func() { x.Sync(ctx, m.serves, period) })
		x.Run(ctx, int(m.config.GarbageCollectorController.ConcurrentGCSyncs), period)
		wg.Wait()
	}, err
}

// openResourceQuota runs nothing if the server has no quotas.
func openResourceQuota(ctx context.Context, m *manager, c kubernetes.Interface) (run, error) {
	if !m.serves.has("resourcequotas") {
		return func(context.Context) {}, nil
	}
	quotas, err := install.NewQuotaConfigurationForControllers(generic.ListerFuncForResourceFunc(m.typed.ForResource), m.typed)
	if err != nil {
		return nil, err
	}
	period := m.config.Generic.MinResyncPeriod.Duration
	x, err := resourcequota.NewController(ctx, &resourcequota.ControllerOptions{
		QuotaClient:               c.CoreV1(),
		ResourceQuotaInformer:     m.typed.Core().V1().ResourceQuotas(),
		ResyncPeriod:              controller.StaticResyncPeriodFunc(m.config.ResourceQuotaController.ResourceQuotaSyncPeriod.Duration),
		Registry:                  generic.NewRegistry(quotas.Evaluators()),
		DiscoveryFunc:             m.serves.ServerPreferredNamespacedResources,
		IgnoredResourcesFunc:      quotas.IgnoredResources,
		InformersStarted:          m.started,
		InformerFactory:           informerfactory.NewInformerFactory(m.typed, m.partial),
		ReplenishmentResyncPeriod: controller.StaticResyncPeriodFunc(period),
		UpdateFilter:              install.DefaultUpdateFilter(),
	})
	return func(ctx context.Context) {
		var wg sync.WaitGroup
		wg.Go(func() { x.Sync(ctx, m.serves.ServerPreferredNamespacedResources, 30*time.Second) })
		x.Run(ctx, int(m.config.ResourceQuotaController.ConcurrentResourceQuotaSyncs))
		wg.Wait()
	}, err
}

func openNamespace(ctx context.Context, m *manager, _ kubernetes.Interface) (run, error) {
	conf := rest.CopyConfig(m.conf)
	conf.QPS, conf.Burst = conf.QPS*20, conf.Burst*100
	c, err := kubernetes.NewForConfig(conf)
	if err != nil {
		return nil, err
	}
	partial, err := metadata.NewForConfig(conf)
	if err != nil {
		return nil, err
	}
	n := m.config.NamespaceController
	x := namespace.NewNamespaceController(ctx, c, partial, m.serves.ServerPreferredNamespacedResources, m.typed.Core().V1().Namespaces(),
		n.NamespaceSyncPeriod.Duration, corev1.FinalizerKubernetes)
	return func(ctx context.Context) { x.Run(ctx, int(n.ConcurrentNamespaceSyncs)) }, nil
}
