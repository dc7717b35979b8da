package kube_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// Every read gets the same bytes as from the handlers, whatever client wrote or read the object
// before and in whatever encoding.
func TestAnswers(t *testing.T) {
	const (
		pods, nodes = "/api/v1/namespaces/default/pods", "/api/v1/nodes"
		leases      = "/apis/coordination.k8s.io/v1/namespaces/kube-system/leases"
		pools       = "/apis/whereabouts.cni.cncf.io/v1alpha1/namespaces/kube-system/ippools"
		protobuf    = "application/vnd.kubernetes.protobuf"
	)
	serve(t, func(ctx context.Context, c *cluster) {
		send := func(method, path, accept, body string) *http.Response {
			req := must(http.NewRequestWithContext(ctx, method, "http://sim"+path, strings.NewReader(body)))
			req.Header.Set("Accept", accept)
			req.Header.Set("Content-Type", "application/json")
			if method == "PATCH" {
				req.Header.Set("Content-Type", "application/merge-patch+json")
			}
			return must(c.Direct().RoundTrip(req))
		}
		hits := 0
		reads := func(path string) {
			t.Helper()
			for _, accept := range []string{"application/json", protobuf + ",application/json"} {
				if accept != "application/json" && strings.HasPrefix(path, pools) {
					continue
				}
				for range 2 {
					req := must(http.NewRequestWithContext(ctx, "GET", "http://sim"+path, nil))
					req.Header.Set("Accept", accept)
					want, remembered := c.Afresh(req)
					if remembered {
						hits++
					}
					if d := cmp.Diff(read(want), read(send("GET", path, accept, ""))); d != "" {
						t.Errorf("%s in %s (-handlers +served):\n%s", path, accept, d)
					}
				}
			}
		}
		for _, o := range []struct{ path, body string }{
			{pods, `{"metadata":{"name":"x","labels":{"a":"b"}},"spec":{"containers":[{"name":"c","image":"i"}]}}`},
			{nodes, `{"metadata":{"name":"x"}}`},
			{leases, `{"metadata":{"name":"x"},"spec":{"holderIdentity":"me"}}`},
			{pools, `{"apiVersion":"whereabouts.cni.cncf.io/v1alpha1","kind":"IPPool","metadata":{"name":"x"},"spec":{"range":"10.0.0.0/24","allocations":{}}}`},
			{"/api/v1/namespaces", `{"metadata":{"name":"x"}}`},
		} {
			for _, accept := range []string{"application/json", protobuf} {
				if strings.HasPrefix(o.path, pools) {
					accept = "application/json"
				}
				x := o.path + "/x"
				reads(x)
				send("POST", o.path, accept, o.body)
				reads(x)
				send("PATCH", x, accept, `{"metadata":{"annotations":{"n":"1"}}}`)
				reads(x)
				send("PATCH", x+"?dryRun=All", accept, `{"metadata":{"annotations":{"n":"2"}}}`)
				reads(x)
				send("PATCH", x+"/status", accept, `{"status":{"phase":"Running"}}`)
				reads(x)
				whole := must(io.ReadAll(send("GET", x, "application/json", "").Body))
				if put := send("PUT", x, accept, string(whole)); put.StatusCode != http.StatusOK {
					t.Errorf("PUT %s: %s", x, read(put))
				}
				reads(x)
				reads(x + "/status")
				reads(x + "?resourceVersion=0")
				send("DELETE", x, accept, `{"gracePeriodSeconds":5}`)
				reads(x)
				send("DELETE", x, accept, `{"gracePeriodSeconds":0}`)
				reads(x)
			}
		}
		if hits < 60 {
			t.Errorf("%d reads were remembered: too few to have shown anything", hits)
		}
	})
}

func read(r *http.Response) string {
	return fmt.Sprintf("%d %v %q", r.StatusCode, r.Header, must(io.ReadAll(r.Body)))
}
