// Package kubeadm reads the configuration that kubeadm keeps in the ConfigMap
// kube-system/kubeadm-config of a cluster. Address managers use parts of it.
package kubeadm

import (
	"context"
	"encoding/json"
	"errors"

	corev1 "k8s.io/api/core/v1"

	"ipamsim/sim/ipam"
	"ipamsim/sim/kube"
)

// The place of the configuration: an object, and a key of its data.
const (
	Kind      = "ConfigMap"
	Namespace = "kube-system"
	Name      = "kubeadm-config"
	Field     = "ClusterConfiguration"
)

// Argument is a flag without its dashes, as kubeadm writes it.
type Argument struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

// Arguments are a list (v1beta4) or names with their values (v1beta3).
type Arguments []Argument

// UnmarshalJSON implements json.Unmarshaler.
func (a *Arguments) UnmarshalJSON(b []byte) error {
	var list []Argument
	if json.Unmarshal(b, &list) == nil {
		*a = list
		return nil
	}
	values := map[string]string{}
	if err := json.Unmarshal(b, &values); err != nil {
		return errors.New("extraArgs: want a list of {name, value}, or names with their values as text")
	}
	for name, v := range values { // in any order: a name is there once
		*a = append(*a, Argument{name, v})
	}
	return nil
}

// Stored is the ClusterConfiguration that is stored, read past every gate.
func Stored(api *kube.Server) (string, error) {
	all, err := api.List(context.Background(), "configmaps")
	if err != nil {
		return "", err
	}
	for _, o := range all {
		if m, ok := o.(*corev1.ConfigMap); ok && m.Namespace == Namespace && m.Name == Name {
			return m.Data[Field], nil
		}
	}
	return "", errors.New("there is no ConfigMap " + Namespace + "/" + Name)
}

// Read has read take the ClusterConfiguration that is among objects; ok is false if none
// is. The error is an *ipam.ObjectError.
func Read(objects []ipam.Object, read func(text string) error) (ok bool, err error) {
	for _, o := range objects {
		if o.Kind != Kind || o.Namespace != Namespace || o.Name != Name {
			continue
		}
		var m struct {
			Data map[string]string `json:"data"`
		}
		err := json.Unmarshal(o.Body, &m)
		if err == nil {
			err = read(m.Data[Field])
		}
		if err != nil {
			return true, &ipam.ObjectError{Object: o, Field: "data." + Field, Err: err}
		}
		return true, nil
	}
	return false, nil
}
