package whereabouts_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"testing"
	"testing/synctest"

	"github.com/k8snetworkplumbingwg/whereabouts/pkg/config"
	wbclient "github.com/k8snetworkplumbingwg/whereabouts/pkg/generated/clientset/versioned"
	storage "github.com/k8snetworkplumbingwg/whereabouts/pkg/storage/kubernetes"
	"github.com/k8snetworkplumbingwg/whereabouts/pkg/types"
	"k8s.io/client-go/kubernetes"

	"ipamsim/model"
	"ipamsim/sim"
	"ipamsim/sim/ipam"
	"ipamsim/sim/ipam/whereabouts"
	"ipamsim/sim/kube"
)

// A simulated ADD against the same upstream call on the same API server and etcd
// without gate and kernel, one after the other in one pool.
func BenchmarkAdd(b *testing.B) {
	conf := json.RawMessage(`{"cniVersion":"0.3.1","name":"net","type":"macvlan","ipam":{"type":"whereabouts","range":"10.0.0.0/16"}}`)
	const pods = 50
	b.Run("simulated", func(b *testing.B) {
		for range b.N {
			a := whereabouts.New()
			run, _ := server(b).Begin()
			_, err := sim.Run(context.Background(), sim.Options{Strategy: timed(b, 1)}, func(w *sim.World) error {
				api, err := ipam.Serve(w, run, a)
				if err != nil {
					return err
				}
				inst, err := a.Open(ipam.Env{API: api, Store: run})
				if err != nil {
					return err
				}
				w.Spawn(sim.Process{ID: "story", Run: func(context.Context, *sim.Gate) error {
					defer w.Finish()
					for n := range pods {
						c := ipam.Call{Node: "a", Pod: model.PodRef{Namespace: "default", Name: fmt.Sprint("p-", n)}, Container: fmt.Sprint("c-", n), Interface: "net1", Network: "default/net", Config: conf}
						p := w.Spawn(sim.Process{ID: sim.ActorID("add/" + c.Pod.Name), Run: func(ctx context.Context, g *sim.Gate) error {
							_, err := inst.Add(ctx, g, c)
							return err
						}})
						<-p.Done()
						if p.Err() != nil {
							b.Error(p.Err())
						}
					}
					return nil
				}})
				return nil
			})
			if err != nil {
				b.Fatal(err)
			}
			run.End()
		}
		b.ReportMetric(float64(b.Elapsed().Microseconds())/float64(b.N*pods), "µs/ADD")
	})
	b.Run("direct", func(b *testing.B) {
		flat := filepath.Join(b.TempDir(), "flat")
		if err := os.WriteFile(flat, []byte(`{"kubernetes":{"kubeconfig":"x"}}`), 0o600); err != nil {
			b.Fatal(err)
		}
		for range b.N {
			a := whereabouts.New()
			run, _ := server(b).Begin()
			synctest.Test(new(testing.T), func(*testing.T) {
				crds, _ := a.CRDs()
				api, err := kube.New(run, crds)
				if err != nil {
					b.Error(err)
					return
				}
				defer api.Close()
				for n := range pods {
					in := `{"cniVersion":"0.3.1","name":"net","type":"macvlan","ipam":{"type":"whereabouts","range":"10.0.0.0/16","configuration_path":` + strconv.Quote(flat) + `}}`
					c, _, err := config.LoadIPAMConfig([]byte(in), fmt.Sprintf("IgnoreUnknown=1;K8S_POD_NAMESPACE=default;K8S_POD_NAME=p-%d", n))
					if err != nil {
						b.Error(err)
						return
					}
					cfg := kube.Config(api.Direct())
					cfg.QPS = 0
					ks, _ := kubernetes.NewForConfig(cfg)
					wb, _ := wbclient.NewForConfig(cfg)
					ctx, cancel := context.WithTimeout(context.Background(), types.AddTimeLimit)
					_, err = storage.IPManagement(ctx, types.Allocate, *c, &storage.KubernetesIPAM{
						Client: *storage.NewKubernetesClient(wb, ks), Config: *c, Namespace: "kube-system", ContainerID: fmt.Sprint("c-", n), IfName: "net1"})
					cancel()
					if err != nil {
						b.Error(err)
					}
					run.Pump()
				}
			})
			run.End()
		}
		b.ReportMetric(float64(b.Elapsed().Microseconds())/float64(b.N*pods), "µs/ADD")
	})
}
