package nodeipam

import (
	"encoding/json"
	"errors"

	"ipamsim/model"
	"ipamsim/sim/ipam"
)

// Where kubeadm keeps its configuration.
const (
	configKind = "ConfigMap"
	configName = "kubeadm-config"
	configSpec = "ClusterConfiguration"
	namespace  = "kube-system"
)

// networkKey is the pods' network.
const networkKey = "pods"

// primary reads the pods' network out of what kubeadm has configured.
func primary(objects []ipam.Object) (model.Network, json.RawMessage, error) {
	for _, o := range objects {
		if o.Kind != configKind || o.Namespace != namespace || o.Name != configName {
			continue
		}
		var m struct {
			Data map[string]string `json:"data"`
		}
		bad := func(err error) error { return &ipam.ObjectError{Object: o, Field: "data." + configSpec, Err: err} }
		if err := json.Unmarshal(o.Body, &m); err != nil {
			return model.Network{}, nil, bad(err)
		}
		f, err := readFlags(m.Data[configSpec])
		if err != nil {
			return model.Network{}, nil, bad(err)
		}
		r, err := f.ranges()
		if err != nil {
			return model.Network{}, nil, bad(err)
		}
		return r.network(), json.RawMessage(`{"cniVersion":"1.0.0","name":"` + networkKey + `","type":"bridge"}`), nil
	}
	return model.Network{}, nil, errors.New("the file has no ConfigMap kube-system/kubeadm-config, want one whose ClusterConfiguration has networking.podSubnet")
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
