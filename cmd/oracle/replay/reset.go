package replay

import (
	"context"
	"fmt"
	"net/http"
	"strings"

	clientv3 "go.etcd.io/etcd/client/v3"

	"ipamsim/cmd/oracle/upstream"
)

// Server is a kube-apiserver that is used for one run after the other.
type Server struct {
	*upstream.Server
	own map[string]string // keys and values in etcd before the first run
}

// stored is what the server keeps in its etcd.
const stored = "/registry/"

// remember notes what is stored before the first run, once the server has stored what it
// stores when it starts.
func (s *Server) remember(ctx context.Context) error {
	for name := range systemNamespace { // some of them come after a minute only
		body := fmt.Sprintf(`{"apiVersion":"v1","kind":"Namespace","metadata":{"name":%q}}`, name)
		resp, err := s.As(ctx, "kube-apiserver", http.MethodPost, "/api/v1/namespaces", "application/json", "application/json", []byte(body))
		if err != nil {
			return err
		}
		_ = resp.Body.Close()
		if resp.StatusCode != http.StatusCreated && resp.StatusCode != http.StatusConflict {
			return fmt.Errorf("namespace %s: %s", name, resp.Status)
		}
	}
	if err := s.Until(ctx, "/api/v1/namespaces/default/services/kubernetes"); err != nil {
		return err
	}
	var err error
	s.own, err = s.everything(ctx)
	return err
}

// everything is what is stored now, by key.
func (s *Server) everything(ctx context.Context) (map[string]string, error) {
	now, err := s.Etcd.Get(ctx, stored, clientv3.WithPrefix())
	if err != nil {
		return nil, fmt.Errorf("etcd of kube-apiserver: %w", err)
	}
	out := map[string]string{}
	for _, kv := range now.Kvs {
		out[string(kv.Key)] = string(kv.Value)
	}
	return out, nil
}

// reset takes out of the server what a run has stored, and puts back what it has changed.
func (s *Server) reset(ctx context.Context) error {
	is, err := s.everything(ctx)
	if err != nil {
		return err
	}
	for key := range is {
		if s.own[key] != "" || byServer(key) {
			continue
		}
		if _, err := s.Etcd.Delete(ctx, key); err != nil {
			return fmt.Errorf("etcd of kube-apiserver: %w", err)
		}
	}
	for key, value := range s.own {
		if is[key] == value || byServer(key) {
			continue
		}
		if _, err := s.Etcd.Put(ctx, key, value); err != nil {
			return fmt.Errorf("etcd of kube-apiserver: %w", err)
		}
	}
	return nil
}

// byServer reports whether the server writes a key again and again by itself.
func byServer(key string) bool {
	return strings.HasPrefix(key, stored+"leases/kube-system/apiserver-") || strings.HasPrefix(key, stored+"ranges/") || strings.HasPrefix(key, stored+"peerserverleases/")
}
