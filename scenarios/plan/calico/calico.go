// Package calico is what plans know of Calico: its settings, how its manifests configure
// it, and the way from one set of IPPools to another.
package calico

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/netip"
	"slices"
	"strings"
	"time"

	"ipamsim/model/capacity"
	"ipamsim/model/capacity/calico"
	reference "ipamsim/model/reference/calico"
	"ipamsim/scenarios"
	"ipamsim/scenarios/plan"
	"ipamsim/sim/cluster"
)

// The kinds of manifests that settings change.
const (
	poolKind      = "IPPool"
	configKind    = "IPAMConfig"
	configKindV3  = "IPAMConfiguration"
	collectorKind = "KubeControllersConfiguration"
)

// What plans know of Calico. Every is upstream's own interval.
//
// Source: kube-controllers/pkg/config, defaultReconcilePeriod (v3.31).
var Plan = plan.Manager{
	Configure: configure,
	Settings:  settings(),
	Manifests: func(d *plan.Draft, all []cluster.Object) ([]cluster.Object, error) { return draft{d}.manifests(all) },
	Blame:     append(slices.Clone(poolSettings), "maxBlocksPerHost", "strictAffinity"),
	Collector: "Calico's garbage collector", Pass: "ipam-gc", Daemon: "ipam-controller", Every: 5 * time.Minute,
	Grace:  graceOf,
	Stored: []string{"IPAMBlock", "BlockAffinity", "IPAMHandle"},
	Moves:  moves, Pool: poolKind,
	Real: plan.RealCode{Latency: latency, Unable: unable, Daemons: daemons, Objects: withGrace, Wanting: wanting},
}

// Where Calico keeps its record.
const (
	kubernetesDatastore = "kubernetes"
	etcdDatastore       = "etcdv3"
)

// configure takes the configuration out of the manifests.
func configure(d *plan.Draft, s *scenarios.Scenario, c *capacity.Cluster) error {
	b := c.Networks[0].Blocks
	if len(b.Pools) == 0 {
		return errors.New("no pool: want the setting pool, or an IPPool manifest")
	}
	pools, err := poolsOf(s.Objects)
	if err != nil {
		return err
	}
	config := &calico.Config{
		Pools: pools, Reserved: b.Reserved, Routing: routingOf(c.Networks),
		V4: b.V4, V6: b.V6, Tunnels: tunnels(d),
		Settings: reference.Config{Strict: b.Strict, AutoAllocate: b.AutoAllocate, MaxBlocks: b.MaxBlocks},
	}
	if d.Datastore != etcdDatastore {
		config.Datastore = reference.Kubernetes
	}
	c.Manager = config
	return nil
}

// tunnelDaemon gives nodes' devices their addresses.
const tunnelDaemon = "tunnel-addresses"

// tunnels reports whether nodes' devices get addresses. Of a cluster that runs they do if
// some have one, so that calico-node looks after them.
//
// Source: node/pkg/allocateip/allocateip.go, generateHandleAndAttributes.
func tunnels(d *plan.Draft) bool {
	return d.Alone() || slices.Contains(d.Base().Doc.Spec.Daemons, tunnelDaemon) || slices.ContainsFunc(d.Base().Objects, func(o cluster.Object) bool {
		return o.Kind == "IPAMHandle" && (strings.HasPrefix(o.Name, "ipip-tunnel-addr-") || strings.HasPrefix(o.Name, "vxlan-tunnel-addr-") || strings.HasPrefix(o.Name, "vxlan-v6-tunnel-addr-"))
	})
}

// graceOf is the collector's grace period by the manifests; 0 is the default.
func graceOf(objects []cluster.Object) time.Duration {
	for _, o := range objects {
		if o.Kind != collectorKind {
			continue
		}
		var k struct {
			Spec struct {
				Controllers struct {
					Node *struct {
						LeakGracePeriod *string `json:"leakGracePeriod"`
					} `json:"node"`
				} `json:"controllers"`
			} `json:"spec"`
		}
		if json.Unmarshal(o.Body, &k) != nil || k.Spec.Controllers.Node == nil {
			return capacity.Never
		}
		if text := k.Spec.Controllers.Node.LeakGracePeriod; text != nil {
			if d, err := time.ParseDuration(*text); err == nil && d > 0 {
				return d
			}
			return capacity.Never // a period of 0 releases nothing
		}
	}
	return 0
}

// poolsOf reads the pools as the reference wants them.
func poolsOf(objects []cluster.Object) (out []reference.Pool, err error) {
	for _, o := range objects {
		if o.Kind != poolKind {
			continue
		}
		var x struct {
			Spec struct {
				CIDR              string   `json:"cidr"`
				BlockSize         int      `json:"blockSize"`
				Disabled          bool     `json:"disabled"`
				AssignmentMode    string   `json:"assignmentMode"`
				AllowedUses       []string `json:"allowedUses"`
				NodeSelector      string   `json:"nodeSelector"`
				NamespaceSelector string   `json:"namespaceSelector"`
				IPIPMode          string   `json:"ipipMode"`
				VXLANMode         string   `json:"vxlanMode"`
			} `json:"spec"`
		}
		if err := json.Unmarshal(o.Body, &x); err != nil {
			return nil, fmt.Errorf("%s %s: %w", o.Kind, o.Name, err)
		}
		prefix, err := netip.ParsePrefix(x.Spec.CIDR)
		if err != nil {
			return nil, fmt.Errorf("%s %s: %w", o.Kind, o.Name, err)
		}
		pool := reference.Pool{
			Name: o.Name, Prefix: prefix.Masked(), BlockBits: x.Spec.BlockSize, Disabled: x.Spec.Disabled, Manual: x.Spec.AssignmentMode == "Manual",
			NodeSelector: x.Spec.NodeSelector, NamespaceSelector: x.Spec.NamespaceSelector,
			IPIP: on(x.Spec.IPIPMode), VXLAN: on(x.Spec.VXLANMode),
		}
		for _, use := range x.Spec.AllowedUses {
			switch use {
			case "Workload":
				pool.Uses = append(pool.Uses, reference.Workload)
			case "Tunnel":
				pool.Uses = append(pool.Uses, reference.Tunnel)
			}
		}
		out = append(out, pool)
	}
	return out, nil
}

func on(mode string) bool { return mode != "" && mode != "Never" }
