// Package clustertest is for tests that look at a cluster when its run has ended.
package clustertest

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"path"
	"slices"
	"strings"

	"ipamsim/sim/cluster"
	"ipamsim/sim/cluster/kubeapi"
)

// Stored returns what kubectl get prints for every kind that the cluster serves, and the objects
// that the manager keeps in its own datastore (ipam.Keep). It is sorted by kind, namespace and
// name, and may be called where Cluster.Sight may.
func Stored(c *cluster.Cluster) ([]cluster.Object, error) {
	var out []cluster.Object
	direct := c.Direct()
	for kind, r := range c.Kinds {
		if r.Alias {
			continue
		}
		b, err := direct.Do(context.Background(), http.MethodGet, r.Path("", ""), "application/json", nil)
		if err != nil {
			return nil, fmt.Errorf("cluster: list %s: %w", r.Plural, err)
		}
		objs, err := listed(kind, r, b)
		if err != nil {
			return nil, fmt.Errorf("cluster: list %s: %w", r.Plural, err)
		}
		out = append(out, objs...)
	}
	if k := c.Instance.Keep; k != nil {
		more, err := k.Export(context.Background())
		if err != nil {
			return nil, err
		}
		out = append(out, more...)
	}
	slices.SortFunc(out, func(a, b cluster.Object) int {
		return cmp.Or(cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.Name, b.Name))
	})
	return out, nil
}

// listed are the items of a list, with what only the list says of them.
func listed(kind string, r kubeapi.Resource, body []byte) ([]cluster.Object, error) {
	var list struct{ Items []map[string]any }
	if err := json.Unmarshal(body, &list); err != nil {
		return nil, err
	}
	var out []cluster.Object
	for _, item := range list.Items {
		item["kind"], _, _ = strings.Cut(kind, ".") // see KindOf
		item["apiVersion"] = path.Join(strings.Split(r.Root, "/")[2:]...)
		b, err := json.Marshal(item)
		if err != nil {
			return nil, err
		}
		m, _ := item["metadata"].(map[string]any)
		o := cluster.Object{Kind: kind, Body: b}
		o.Name, _ = m["name"].(string)
		o.Namespace, _ = m["namespace"].(string)
		out = append(out, o)
	}
	return out, nil
}
