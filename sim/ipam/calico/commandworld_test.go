package calico

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	apiv3 "github.com/projectcalico/api/pkg/apis/projectcalico/v3"
	libapiv3 "github.com/projectcalico/calico/libcalico-go/lib/apis/v3"
	"github.com/projectcalico/calico/libcalico-go/lib/backend/model"
	upstream "github.com/projectcalico/calico/libcalico-go/lib/ipam"
	"github.com/projectcalico/calico/libcalico-go/lib/options"
	corev1 "k8s.io/api/core/v1"

	"ipamsim/sim"
	"ipamsim/sim/ipam/calico/store"
)

// console is a run in which an operator types calicoctl.
type console struct{ *gcWorld }

func consolePlay(t *testing.T, r gcRun, story func(context.Context, console)) *sim.Trace {
	t.Helper()
	tr, _ := gcPlay(t, r, func(ctx context.Context, w *gcWorld) { story(ctx, console{w}) })
	return tr
}

// cluster is ready when Calico has its nodes.
func (w console) cluster(cidr string, nodes ...string) {
	w.t.Helper()
	w.gcWorld.cluster(cidr, nodes...)
	time.Sleep(time.Second)
}

// command runs a command line and returns its output with the error last, as on a terminal.
func (w console) command(line string) string {
	w.t.Helper()
	out, err := w.in.Command(context.Background(), nil, strings.Fields(line))
	if err != nil {
		out += err.Error() + "\n"
	}
	return out
}

// expect runs a command whose output must contain some texts.
func (w console) expect(line string, want ...string) string {
	w.t.Helper()
	out := w.command(line)
	for _, s := range want {
		if !strings.Contains(out, s) {
			w.t.Errorf("%s: %s: no %q in\n%s", w.in.env.Datastore, line, s, out)
		}
	}
	return out
}

// wikimedia is the cluster of seeds/000 at the time of the report: two old nodes
// with two blocks each, which they needed for a while, and a new one with a pod
// on a borrowed address.
func (w console) wikimedia() {
	w.t.Helper()
	w.cluster("10.64.75.0/24", "kubestage1001", "kubestage1002", "kubestage1003")
	for _, n := range []string{"kubestage1001", "kubestage1002"} {
		for i := range 65 {
			w.assign(fmt.Sprintf("%s-%d", n, i), n)
		}
		for i := 45; i < 64; i++ {
			w.unassign(fmt.Sprintf("%s-%d", n, i))
		}
	}
	w.assign("kubestage1003-0", "kubestage1003")
}

// assign makes the changes of a CNI ADD in the datastore, without messages, and returns the
// address; "" if there is none.
func (w console) assign(pod, node string) string {
	w.t.Helper()
	ip, err := w.tryAssign(w.direct.IPAM(), pod, node)
	w.must(err)
	return ip
}

func (w console) tryAssign(c upstream.Interface, pod, node string) (string, error) {
	h := handleOf(pod)
	v4, _, err := c.AutoAssign(context.Background(), upstream.AutoAssignArgs{
		Num4: 1, HandleID: &h, Hostname: node, IntendedUse: apiv3.IPPoolAllowedUseWorkload,
		Attrs: map[string]string{upstream.AttributeNode: node, upstream.AttributePod: pod, upstream.AttributeNamespace: "default"},
	})
	if err != nil {
		return "", err
	}
	if err := v4.PartialFulfillmentError(); err != nil {
		return "", err
	}
	return v4.IPs[0].IP.String(), nil
}

func (w console) unassign(pod string) {
	w.t.Helper()
	w.must(w.direct.IPAM().ReleaseByHandle(context.Background(), handleOf(pod)))
}

// healthy is a cluster of two nodes with three pods without errors for ipam check: with the
// configuration that kube-controllers creates when it starts, and with workload endpoints, which
// are Running pods on the Kubernetes datastore and objects of the CNI plugin with etcdv3.
func (w console) healthy() {
	w.t.Helper()
	w.cluster("10.64.75.0/24", "a", "b")
	k := apiv3.NewKubeControllersConfiguration()
	k.Name = "default"
	_, err := w.direct.KubeControllersConfiguration().Create(context.Background(), k, options.SetOptions{})
	w.must(err)
	for _, pod := range []string{"web-0", "web-1", "web-2"} {
		w.workload(pod, "a", w.assign(pod, "a"))
	}
}

func (w console) workload(pod, node, ip string) {
	w.t.Helper()
	if w.in.env.Datastore == store.Kubernetes {
		w.create(pod, node)
		w.status(pod, corev1.PodRunning, ip)
		return
	}
	e := libapiv3.NewWorkloadEndpoint()
	e.Namespace, e.Name = "default", fmt.Sprintf("%s-k8s-%s-eth0", node, strings.ReplaceAll(pod, "-", "--"))
	e.Labels = map[string]string{"projectcalico.org/namespace": "default", "projectcalico.org/orchestrator": "k8s"}
	e.Spec = libapiv3.WorkloadEndpointSpec{Node: node, Orchestrator: "k8s", Pod: pod, Endpoint: "eth0", ContainerID: "sandbox-of-" + pod,
		InterfaceName: "cali" + pod, IPNetworks: []string{ip + "/32"}, Profiles: []string{"kns.default"}}
	_, err := w.direct.WorkloadEndpoints().Create(context.Background(), e, options.SetOptions{})
	w.must(err)
}

// remove deletes the object of a key, as kubectl delete does.
func (w console) remove(k model.Key) {
	w.t.Helper()
	kv, err := store.Backend(w.direct).Get(context.Background(), k, "")
	w.must(err)
	if err == nil {
		_, err = store.Backend(w.direct).DeleteKVP(context.Background(), kv)
		w.must(err)
	}
}

// store writes something as it is.
func (w console) store(k model.Key, value any) {
	w.t.Helper()
	_, err := store.Backend(w.direct).Create(context.Background(), &model.KVPair{Key: k, Value: value})
	w.must(err)
}
