package kube_test

import (
	"context"
	"fmt"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"

	"ipamsim/sim"
	"ipamsim/sim/kube"
	"ipamsim/sim/way"
)

// A process creates a pod and loses the answer: the server did it, the client
// cannot know.
func ExampleServer_Transport() {
	run, err := store.Begin()
	if err != nil {
		fmt.Println(err)
		return
	}
	defer run.End()
	budget := sim.Budget{Allowed: sim.Of(sim.LoseReply), Max: 1}
	trace, err := sim.Run(context.Background(), sim.Options{Strategy: &hurt{key: "POST", outcome: sim.LoseReply, way: way.Reset}, Faults: budget}, func(w *sim.World) error {
		api, err := kube.New(run, nil)
		if err != nil {
			return err
		}
		w.Cleanup(api.Close)
		w.Hooks.Settle = run.Pump
		w.Spawn(sim.Process{ID: "client", Run: func(ctx context.Context, g *sim.Gate) error {
			defer w.Finish()
			client, err := kubernetes.NewForConfig(kube.Config(api.Transport(g)))
			if err != nil {
				return err
			}
			_, err = client.CoreV1().Pods("default").Create(ctx, pod("web", "a"), metav1.CreateOptions{})
			fmt.Println(err)
			time.Sleep(time.Second)
			_, err = client.CoreV1().Pods("default").Create(ctx, pod("web", "a"), metav1.CreateOptions{})
			fmt.Println(err)
			return nil
		}})
		return nil
	})
	if err != nil {
		fmt.Println(err)
	}
	for _, s := range trace.Steps {
		fmt.Println(s.Choice.Outcome, s.Choice.Op.Key, "→", s.Note)
	}
	// Output:
	// Post "http://kube.sim/api/v1/namespaces/default/pods": read tcp: read: connection reset by peer
	// pods "web" already exists
	// lose-reply POST pods/default/web → 201 rv=2
	// proceed POST pods/default/web → 409 AlreadyExists
}
