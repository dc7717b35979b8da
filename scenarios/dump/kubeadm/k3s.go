package kubeadm

import (
	"encoding/json"
	"slices"
	"strings"

	"ipamsim/scenarios/dump/kept"
	"ipamsim/sim/ipam/kubeadm"
)

// k3sNote is the annotation in which k3s writes with which arguments a node was started, those of
// its configuration file among them.
//
// Source: k3s-io/k3s issue 3289 (since v1.21.1).
const k3sNote = "k3s.io/node-args"

// The ranges of k3s where no argument says another.
//
// Source: k3s-io/k3s, pkg/cli/cmds/server.go and pkg/daemons/control/server.go, which also sets
// allocate-node-cidrs (v1.27.3).
const clusterDefault, serviceDefault = "10.42.0.0/16", "10.43.0.0/16"

// KeepServer keeps with which flags a server of k3s runs kube-controller-manager: it is a part of
// k3s and no pod. ok is false if a Node is no such server.
func KeepServer(s *kept.Store, in kept.Objects[Program], h *kept.Head) (ok bool, err error) {
	var words []string
	if json.Unmarshal([]byte(h.Metadata.Annotations[k3sNote]), &words) != nil || len(words) == 0 || words[0] != "server" {
		return false, nil
	}
	var clusters, services, all []string
	for i, w := range words {
		name, text, has := strings.Cut(strings.TrimLeft(w, "-"), "=")
		if !strings.HasPrefix(w, "-") || !has && i+1 == len(words) {
			continue
		}
		if !has {
			text = words[i+1]
		}
		switch name {
		case "cluster-cidr":
			clusters = append(clusters, Split(text)...)
		case "service-cidr":
			services = append(services, Split(text)...)
		case "kube-controller-manager-arg":
			all = append(all, "--"+strings.TrimLeft(text, "-"))
		}
	}
	if len(clusters) == 0 {
		clusters = []string{clusterDefault}
	}
	if len(services) == 0 {
		services = []string{serviceDefault}
	}
	first := []string{"--allocate-node-cidrs=true", "--cluster-cidr=" + strings.Join(clusters, ","), "--service-cluster-ip-range=" + strings.Join(services, ",")}
	p := Program{Name: controllerManager, Args: argumentsIn(slices.Concat(first, all))}
	if value(p.Args, "cluster-cidr") == "" {
		return false, nil
	}
	return true, kept.Put(s, in, p.Name+" "+kubeadm.Namespace+"/"+h.Metadata.Name, h, p)
}
