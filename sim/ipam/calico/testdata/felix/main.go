// Command felix is Felix's route resolver for the tests of the model of routes, which
// compare the two. It is a module of its own because felix/calc does not compile beside
// Kubernetes 1.37: it calls knftables.New as knftables had it up to v0.0.18, and
// Kubernetes needs v0.0.19 at least.
//
// Each line of standard input is a question and each line of standard output its answer,
// in JSON: what a syncer shows to a node's Felix, and the routes that Felix decides on.
package main

import (
	"bufio"
	"encoding/json"
	"log"
	"maps"
	"os"
	"slices"

	apiv3 "github.com/projectcalico/api/pkg/apis/projectcalico/v3"
	"github.com/projectcalico/calico/felix/calc"
	"github.com/projectcalico/calico/felix/proto"
	libapiv3 "github.com/projectcalico/calico/libcalico-go/lib/apis/v3"
	"github.com/projectcalico/calico/libcalico-go/lib/backend/api"
	"github.com/projectcalico/calico/libcalico-go/lib/backend/model"
	"github.com/projectcalico/calico/libcalico-go/lib/backend/syncersv1/updateprocessors"
	cnet "github.com/projectcalico/calico/libcalico-go/lib/net"
	"github.com/sirupsen/logrus"
	"google.golang.org/protobuf/encoding/protojson"
)

// Question is what a node's Felix hears of.
type Question struct {
	Node      string
	Nodes     []*libapiv3.Node
	Pools     []*apiv3.IPPool
	Blocks    []*model.AllocationBlock
	Workloads map[string]string // devices of the node's own, by address
}

// routes are the last decision for each destination.
type routes map[string]*proto.RouteUpdate

func (r routes) OnRouteUpdate(u *proto.RouteUpdate) { r[u.Dst] = u }
func (r routes) OnRouteRemove(dst string)           { delete(r, dst) }

func main() {
	logrus.SetLevel(logrus.PanicLevel)
	in, out := bufio.NewScanner(os.Stdin), json.NewEncoder(os.Stdout)
	in.Buffer(nil, 1<<20)
	for in.Scan() {
		var q Question
		if err := json.Unmarshal(in.Bytes(), &q); err != nil {
			log.Fatal(err)
		}
		answer, err := q.answer()
		if err == nil {
			err = out.Encode(answer)
		}
		if err != nil {
			log.Fatal(err)
		}
	}
}

func (q Question) answer() ([]json.RawMessage, error) {
	decided := routes{}
	r := calc.NewL3RouteResolver(q.Node, decided, true, "CalicoIPAM")
	r.OnAlive = func() {}
	for _, n := range q.Nodes {
		r.OnResourceUpdate(update(model.ResourceKey{Kind: libapiv3.KindNode, Name: n.Name}, n))
	}
	for _, p := range q.Pools {
		key := model.ResourceKey{Kind: apiv3.KindIPPool, Name: p.Name}
		all, err := updateprocessors.NewIPPoolUpdateProcessor().Process(&model.KVPair{Key: key, Value: p})
		if err != nil {
			return nil, err
		}
		for _, kv := range all {
			r.OnPoolUpdate(update(kv.Key, kv.Value))
		}
	}
	for _, b := range q.Blocks {
		r.OnBlockUpdate(update(model.BlockKey{CIDR: b.CIDR}, b))
	}
	for _, addr := range slices.Sorted(maps.Keys(q.Workloads)) {
		_, ip, err := cnet.ParseCIDR(addr + "/32")
		if err != nil {
			return nil, err
		}
		key := model.WorkloadEndpointKey{Hostname: q.Node, OrchestratorID: "k8s", WorkloadID: "default/" + addr, EndpointID: "eth0"}
		r.OnWorkloadUpdate(update(key, &model.WorkloadEndpoint{Name: q.Workloads[addr], IPv4Nets: []cnet.IPNet{*ip}}))
	}
	answer := []json.RawMessage{}
	for _, dst := range slices.Sorted(maps.Keys(decided)) {
		b, err := protojson.Marshal(decided[dst])
		if err != nil {
			return nil, err
		}
		answer = append(answer, b)
	}
	return answer, nil
}

func update(key model.Key, value any) api.Update {
	return api.Update{KVPair: model.KVPair{Key: key, Value: value}, UpdateType: api.UpdateTypeKVNew}
}
