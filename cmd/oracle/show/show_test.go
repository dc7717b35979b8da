package show

import (
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"ipamsim/cmd/oracle/upstream"
)

// served is a cluster whose API server stores Nodes and gives each the podCIDR of a list.
func served(t *testing.T, cidrs map[string]string) (*cluster, *strings.Builder) {
	t.Helper()
	var mu sync.Mutex
	stored := map[string]bool{}
	h := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		defer mu.Unlock()
		name := strings.TrimPrefix(strings.TrimPrefix(r.URL.Path, nodes), "/")
		switch r.Method {
		case http.MethodPost:
			var o struct{ Metadata struct{ Name string } }
			_ = json.NewDecoder(r.Body).Decode(&o)
			stored[o.Metadata.Name] = true
			w.WriteHeader(http.StatusCreated)
		case http.MethodDelete:
			delete(stored, name)
		case http.MethodGet:
			if !stored[name] {
				w.WriteHeader(http.StatusNotFound)
				return
			}
			fmt.Fprintf(w, `{"spec":{"podCIDR":%q}}`, cidrs[name])
		}
	}))
	t.Cleanup(h.Close)
	out := &strings.Builder{}
	s := &upstream.Server{URL: h.URL, Client: h.Client()}
	return &cluster{Server: s, out: out, seen: map[string]string{}}, out
}

// TestSteps: the driver ends at the first step that shows the finding, and prints what each did.
func TestSteps(t *testing.T) {
	c, out := served(t, map[string]string{"n0": "10.244.0.0/24", "n1": "10.244.1.0/24", "m1": "10.244.0.0/24"})
	err := all(join("n0", "n1"), gets("n0"), gets("n1"), both("n0", "n1"), replace("n1", "m1"), gets("m1"), both("n0", "m1"), leave("n0"))(t.Context(), c)
	const want = `  POST nodes/n0
  POST nodes/n1
  GET nodes/n0: 10.244.0.0/24
  GET nodes/n1: 10.244.1.0/24
  DELETE nodes/n1
  POST nodes/m1
  GET nodes/m1: 10.244.0.0/24
  nodes/n0 and nodes/m1 both have 10.244.0.0/24
`
	if err != nil || !c.shown || out.String() != want {
		t.Errorf("%v, shown %v:\n%s", err, c.shown, out)
	}
}

// TestNotShown: no step follows the one that did not see what it needs, and equal podCIDRs are
// those that both Nodes have.
func TestNotShown(t *testing.T) {
	c, out := served(t, map[string]string{"n0": "10.244.0.0/24"})
	err := all(join("n0", "n1"), getsNone("n1", time.Millisecond), equal("n1", "n2"), getsNone("n0", time.Minute), leave("n0"))(t.Context(), c)
	if !errors.Is(err, errNotShown) || c.shown || strings.Contains(out.String(), "DELETE") {
		t.Errorf("%v, shown %v:\n%s", err, c.shown, out)
	}
}

// TestLoseAndKeep: the first PATCH has no answer, the second one waits until it is released.
func TestLoseAndKeep(t *testing.T) {
	for _, lost := range []bool{false, true} {
		c, _ := served(t, nil)
		ctx, cancel := context.WithCancel(t.Context())
		var err error
		if c.net, err = stand(ctx, c.Server); err != nil {
			t.Fatal(err)
		}
		client := &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}}}
		patch := func() error {
			req, _ := http.NewRequestWithContext(ctx, http.MethodPatch, c.net.url+nodes+"/n0", nil)
			resp, err := client.Do(req)
			if err == nil {
				resp.Body.Close()
			}
			return err
		}
		if err := all(lose("n0"), keep("n0"))(ctx, c); err != nil {
			t.Fatal(err)
		}
		ends := make(chan error, 1)
		go func() {
			if patch() == nil {
				ends <- errors.New("the first PATCH has an answer")
				return
			}
			ends <- patch()
		}()
		if err := all(come, release(lost))(ctx, c); err != nil {
			t.Fatal(err)
		}
		if err := <-ends; (err != nil) != lost {
			t.Errorf("lost %v: %v", lost, err)
		}
		cancel()
	}
}
