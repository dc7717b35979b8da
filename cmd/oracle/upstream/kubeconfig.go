package upstream

import "encoding/json"

// Kubeconfig is one for the server, at the URL of itself or of what stands before it. JSON is YAML.
func (s *Server) Kubeconfig(url, certificate string) []byte {
	type m = map[string]any
	b, err := json.Marshal(m{
		"apiVersion": "v1", "kind": "Config", "current-context": "oracle",
		"clusters": []m{{"name": "oracle", "cluster": m{"server": url, "certificate-authority": certificate}}},
		"contexts": []m{{"name": "oracle", "context": m{"cluster": "oracle", "user": "oracle"}}},
		"users":    []m{{"name": "oracle", "user": m{"token": s.token}}},
	})
	if err != nil {
		panic(err) // strings only
	}
	return b
}
