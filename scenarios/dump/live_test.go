package dump_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"ipamsim/cmd/managers"
	"ipamsim/scenarios/dump"
	"ipamsim/scenarios/dump/live"
)

// paths are where the objects of a scenario live.
var paths = map[string]string{
	"Node": "/api/v1/nodes", "Namespace": "/api/v1/namespaces", "Pod": "/api/v1/namespaces/%s/pods",
	"IPPool": "/apis/crd.projectcalico.org/v1/ippools", "IPAMBlock": "/apis/crd.projectcalico.org/v1/ipamblocks",
	"BlockAffinity": "/apis/crd.projectcalico.org/v1/blockaffinities", "IPAMHandle": "/apis/crd.projectcalico.org/v1/ipamhandles",
	"IPAMConfig": "/apis/crd.projectcalico.org/v1/ipamconfigs", "BGPConfiguration": "/apis/crd.projectcalico.org/v1/bgpconfigurations",
	"BGPPeer": "/apis/crd.projectcalico.org/v1/bgppeers", "KubeControllersConfiguration": "/apis/crd.projectcalico.org/v1/kubecontrollersconfigurations",
	"Deployment": "/apis/apps/v1/namespaces/%s/deployments",
}

// wikimedia stores the cluster of seeds/000 as it was dumped, and more pods.
func wikimedia(t *testing.T, s *server, more int) {
	t.Helper()
	c := dump.New(managers.All())
	f, err := os.Open("testdata/wikimedia.yaml")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if err := c.Read("wikimedia.yaml", f, nil); err != nil {
		t.Fatal(err)
	}
	text, _, err := whole(c).Scenario(dump.Options{})
	if err != nil {
		t.Fatal(err)
	}
	w, err := managers.All().Parse("wikimedia.yaml", text)
	if err != nil {
		t.Fatal(err)
	}
	for _, o := range w.Objects {
		path := paths[o.Kind]
		if path == "" {
			t.Fatalf("no resource has kind %s", o.Kind)
		}
		if strings.Contains(path, "%s") {
			path = fmt.Sprintf(path, o.Namespace)
		}
		s.store(path, o.Body)
	}
	for i := range more {
		s.store("/api/v1/namespaces/default/pods", fmt.Appendf(nil, `{"apiVersion":"v1","kind":"Pod","metadata":{"name":"host-%d","namespace":"default"},
			"spec":{"hostNetwork":true,"nodeName":"kubestage1001.eqiad.wmnet","containers":[{"name":"c","image":"i"}]},"status":{"phase":"Running"}}`, i))
	}
}

// files is what the same cluster comes to by kubectl get -o json.
func files(t *testing.T, s *server) ([]byte, *dump.Report) {
	t.Helper()
	c := dump.New(managers.All())
	c.Source(s.tls.Listener.Addr().String())
	for _, r := range dump.Resources(managers.All()) {
		path := strings.Replace("/apis/"+r.APIVersion+"/"+r.Plural, "/apis/v1/", "/api/v1/", 1)
		if r.By != dump.Kubectl || r.Only != "" {
			continue
		}
		var list struct {
			APIVersion, Kind string
			Metadata         struct{ ResourceVersion string }
			Items            []map[string]any
		}
		if err := json.Unmarshal(s.get(path), &list); err != nil {
			t.Fatal(err)
		}
		c.Listed(list.Metadata.ResourceVersion)
		c.Complete(r.APIVersion, r.Kind)
		for _, item := range list.Items {
			item["apiVersion"], item["kind"] = list.APIVersion, strings.TrimSuffix(list.Kind, "List")
			raw, err := json.Marshal(item)
			if err != nil {
				t.Fatal(err)
			}
			if err := c.Add(dump.Origin{File: path}, raw); err != nil {
				t.Fatal(err)
			}
		}
	}
	return liveScenario(t, c)
}

func liveScenario(t *testing.T, c *dump.Cluster) ([]byte, *dump.Report) {
	t.Helper()
	text, rep, err := c.Scenario(dump.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return text, rep
}

func readLive(ctx context.Context, s *server) (*dump.Cluster, error) {
	l, err := live.Open(s.kubeconfig(liveToken), "")
	if err != nil {
		return nil, err
	}
	c := dump.New(managers.All())
	return c, l.Read(ctx, c, nil)
}

// A cluster that is asked, in eleven pages of pods, is the one that kubectl dumps.
// Nothing but GET is sent.
func TestLiveSameAsFiles(t *testing.T) {
	s := serve(t)
	wikimedia(t, s, 5000)
	c, err := readLive(t.Context(), s)
	if err != nil {
		t.Fatal(err)
	}
	asked := s.asked
	got, rep := liveScenario(t, c)
	want, _ := files(t, s)
	if d := cmp.Diff(string(want), string(got)); d != "" {
		t.Errorf("another scenario (-files +live):\n%s", d)
	}
	if rep.Pods != 87 || rep.Nodes != 4 || rep.Claims != 88 {
		t.Errorf("%d pods on %d nodes with %d claims, want 87, 4 and 88", rep.Pods, rep.Nodes, rep.Claims)
	}
	pages := 0
	for _, a := range asked {
		if !strings.HasPrefix(a, "GET ") || strings.Contains(a, "watch") {
			t.Errorf("sent %s", a)
		}
		if strings.HasPrefix(a, "GET /api/v1/pods?") {
			pages++
		}
	}
	if pages != 11 {
		t.Errorf("%d pages of pods, want 11", pages)
	}
}

// What may not be read is said, and the rest is read.
func TestLiveForbidden(t *testing.T) {
	s := serve(t)
	wikimedia(t, s, 0)
	s.instead = func(w http.ResponseWriter, r *http.Request) bool {
		if !strings.HasSuffix(r.URL.Path, "/ipamhandles") {
			return false
		}
		w.WriteHeader(http.StatusForbidden)
		fmt.Fprint(w, `{"kind":"Status","code":403,"message":"ipamhandles.crd.projectcalico.org is forbidden: User \"me\" cannot list resource \"ipamhandles\""}`)
		return true
	}
	c, err := readLive(t.Context(), s)
	if err != nil {
		t.Fatal(err)
	}
	_, rep := liveScenario(t, c)
	all := strings.Join(rep.Unknown, "\n")
	for _, want := range []string{`ipamhandles of the cluster could not be read: ipamhandles.crd.projectcalico.org is forbidden`, "no IPAMHandles in the dump"} {
		if !strings.Contains(all, want) {
			t.Errorf("does not say %q:\n%s", want, all)
		}
	}
}

// A list that expires between two pages goes on as of a later time, as the server
// offers, and that is said. No pod is lost.
func TestLiveExpired(t *testing.T) {
	s := serve(t)
	wikimedia(t, s, 1000)
	// A real server offers the token with the revision left open. Ours knows no such
	// tokens, and its store has not changed: the one that expired does as well.
	pages, expired := 0, ""
	s.instead = func(w http.ResponseWriter, r *http.Request) bool {
		if r.URL.Path != "/api/v1/pods" {
			return false
		}
		q := r.URL.Query()
		switch pages++; {
		case pages == 2:
			expired = q.Get("continue")
			w.WriteHeader(http.StatusGone)
			fmt.Fprint(w, `{"kind":"Status","code":410,"reason":"Expired","message":"the provided continue parameter is too old","metadata":{"continue":"later"}}`)
			return true
		case q.Get("continue") == "later":
			q.Set("continue", expired)
			r.URL.RawQuery = q.Encode()
		}
		return false
	}
	c, err := readLive(t.Context(), s)
	if err != nil {
		t.Fatal(err)
	}
	_, rep := liveScenario(t, c)
	if rep.Pods != 87 {
		t.Errorf("%d pods, want 87", rep.Pods)
	}
	if all := strings.Join(rep.Unknown, "\n"); !strings.Contains(all, "pods were not read at one instant: the list expired while it was read") {
		t.Errorf("does not say that the list expired:\n%s", all)
	}
}

// An error is one line, and comes immediately.
func TestLiveErrors(t *testing.T) {
	s := serve(t)
	wikimedia(t, s, 0)
	busy := func(w http.ResponseWriter, _ *http.Request) bool {
		w.WriteHeader(http.StatusServiceUnavailable)
		return true
	}
	for _, c := range []struct {
		name, token, context string
		instead              func(http.ResponseWriter, *http.Request) bool
		want                 string
	}{
		{"another token", "other", "", nil, "the credentials of the kubeconfig are not accepted"},
		{"no such context", liveToken, "prod", nil, `context "prod" does not exist`},
		{"nobody listens", liveToken, "nowhere", nil, "127.0.0.1:1: dial tcp 127.0.0.1:1: connect: connection refused"},
		{"in clear", liveToken, "clear", nil, "want https: otherwise credentials are sent in clear text"},
		{"not an API server", liveToken, "", func(w http.ResponseWriter, _ *http.Request) bool { fmt.Fprint(w, "<html>"); return true }, "/apis is not a list of API groups"},
		{"busy", liveToken, "", busy, "Service Unavailable"},
		{"everything forbidden", liveToken, "", func(w http.ResponseWriter, r *http.Request) bool {
			if r.URL.Path != "/apis" {
				w.WriteHeader(http.StatusForbidden)
			}
			return r.URL.Path != "/apis"
		}, "Forbidden"},
		{"cut short", liveToken, "", func(w http.ResponseWriter, r *http.Request) bool {
			if r.URL.Path == "/api/v1/nodes" {
				fmt.Fprint(w, `{"kind":"NodeList","items":[{"metadata":{"name":"a"}}`)
			}
			return r.URL.Path == "/api/v1/nodes"
		}, "/api/v1/nodes: unexpected EOF"},
	} {
		t.Run(c.name, func(t *testing.T) {
			s.instead = c.instead
			if c.name == "busy" {
				defer quickly()()
			}
			l, err := live.Open(s.kubeconfig(c.token), c.context)
			if err == nil {
				err = l.Read(t.Context(), dump.New(managers.All()), nil)
			}
			if err == nil || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "\n") {
				t.Errorf("%v\nwant one line with %q", err, c.want)
			}
		})
	}
}

// A server that says nothing does not keep anybody who interrupts.
func TestLiveInterrupted(t *testing.T) {
	s := serve(t)
	ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
	defer cancel()
	s.instead = func(_ http.ResponseWriter, r *http.Request) bool { <-r.Context().Done(); return true }
	if _, err := readLive(ctx, s); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("%v, want the context's error", err)
	}
}

// quickly makes the client retry a busy server without delay, until undo is called.
func quickly() (undo func()) {
	old := live.Unit
	live.Unit = 0
	return func() { live.Unit = old }
}
