// Package kubeadm changes what kubeadm has configured as a plan's settings say.
package kubeadm

import (
	"fmt"
	"slices"

	"sigs.k8s.io/yaml"

	"ipamsim/scenarios/plan"
	"ipamsim/sim/cluster"
	"ipamsim/sim/ipam/kubeadm"
)

// Change changes the ClusterConfiguration in manifests, or adds one.
func Change(all []cluster.Object, change func(conf plan.Body)) ([]cluster.Object, error) {
	i := slices.IndexFunc(all, func(o cluster.Object) bool { return o.Kind == kubeadm.Kind && o.Name == kubeadm.Name })
	if i < 0 {
		o, err := plan.Manifest("v1", kubeadm.Kind, kubeadm.Namespace, kubeadm.Name, nil)
		if err != nil {
			return nil, err
		}
		i, all = 0, append([]cluster.Object{o}, all...)
	}
	rest, err := plan.Change(all[i:i+1], kubeadm.Kind, func(b plan.Body) error {
		delete(b, "spec")
		data := plan.Under(b, "data")
		text, _ := data[kubeadm.Field].(string)
		var err error
		data[kubeadm.Field], err = configure(text, change)
		return err
	})
	if err != nil {
		return nil, err
	}
	all[i] = rest[0]
	return all, nil
}

func configure(text string, change func(conf plan.Body)) (string, error) {
	conf := plan.Body{}
	if err := yaml.Unmarshal([]byte(text), &conf); err != nil {
		return "", fmt.Errorf("no ClusterConfiguration of kubeadm: %w", err)
	}
	change(conf)
	out, err := yaml.Marshal(conf)
	return string(out), err
}

// With are arguments with another value of one: a list as of v1beta4, or a mapping.
func With(args any, name, value string) any {
	if m, ok := args.(plan.Body); ok {
		m[name] = value
		return m
	}
	list, _ := args.([]any)
	list = slices.DeleteFunc(slices.Clone(list), func(a any) bool {
		m, ok := a.(plan.Body)
		return ok && m["name"] == name
	})
	return append(list, plan.Body{"name": name, "value": value})
}
