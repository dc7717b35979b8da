package nodeipam

import (
	"encoding/json"
	"errors"

	"ipamsim/model"
	"ipamsim/sim/ipam"
	"ipamsim/sim/ipam/kubeadm"
)

// networkKey is the pods' network.
const networkKey = "pods"

// primary reads the pods' network out of what kubeadm has configured.
func primary(objects []ipam.Object) (n model.Network, cni json.RawMessage, err error) {
	ok, err := kubeadm.Read(objects, func(text string) error {
		f, err := readFlags(text)
		if err != nil {
			return err
		}
		r, err := f.ranges()
		if err == nil {
			n = r.network()
		}
		return err
	})
	switch {
	case err != nil:
		return n, nil, err
	case ok:
		return n, json.RawMessage(`{"cniVersion":"1.0.0","name":"` + networkKey + `","type":"bridge"}`), nil
	}
	return n, nil, errors.New("the file has no ConfigMap kube-system/kubeadm-config, want one whose ClusterConfiguration has networking.podSubnet")
}

// network is the policy: node slices of the cluster CIDRs, without the services' ranges.
func (r *ranges) network() model.Network {
	n := model.Network{Key: networkKey, Slice: r.masks[0]}
	for i, c := range r.clusters {
		p := prefix(c)
		of := model.Range{Prefix: p, Start: p.Addr(), End: model.LastAddr(p), Slice: r.masks[i]}
		for _, s := range r.services {
			if s != nil && p.Overlaps(prefix(s)) {
				of.Exclude = append(of.Exclude, prefix(s))
			}
		}
		n.Ranges = append(n.Ranges, of)
	}
	return n
}
