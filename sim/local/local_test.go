package local_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"syscall"
	"testing"
	"time"

	"ipamsim/sim"
	"ipamsim/sim/local"
	"ipamsim/sim/strategy"
)

const socket = "/run/ipamd.sock"

// daemon answers "one", "two", … until its process ends.
func daemon(w *sim.World, s *local.Sockets, id string, served *int) {
	w.Spawn(sim.Process{ID: sim.ActorID(id), Group: "node-a", Run: func(ctx context.Context, g *sim.Gate) error {
		l, err := s.Listen(ctx, socket)
		if err != nil {
			return err
		}
		server := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			// The daemon's own requests are messages, too.
			if err := g.Pass(r.Context(), sim.Op{Kind: sim.Write, Key: "PUT record"}, func(context.Context) error { *served++; return nil }); err == nil {
				_, _ = fmt.Fprint(w, *served)
			}
		})}
		return server.Serve(l)
	}})
}

// world runs a plugin and a daemon.
func world(t *testing.T, st sim.Strategy, faults sim.Budget, served *int, plugin func(context.Context, *sim.World, *http.Client)) *sim.Trace {
	t.Helper()
	tr, err := sim.Run(t.Context(), sim.Options{Strategy: st, Faults: faults}, func(w *sim.World) error {
		s := local.New("node-a")
		daemon(w, s, "ipamd", served)
		w.Hold("node-a") // a call on the node needs no network …
		w.Spawn(sim.Process{ID: "plugin", Group: "node-a", Run: func(ctx context.Context, g *sim.Gate) error {
			defer w.Finish()
			time.Sleep(time.Second)
			w.Release("node-a") // … but the daemon's record is elsewhere
			plugin(ctx, w, &http.Client{Transport: s.Transport(ctx, g, socket)})
			if w.Alive("ipamd") {
				return nil
			}
			daemon(w, s, "ipamd~2", served)
			time.Sleep(time.Second)
			plugin(ctx, w, &http.Client{Transport: s.Transport(ctx, g, socket)})
			return nil
		}})
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return tr
}

func ask(ctx context.Context, c *http.Client) (string, error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://ipamd/v1/addresses", strings.NewReader("{}"))
	if err != nil {
		return "", err
	}
	resp, err := c.Do(r)
	if err != nil {
		return "", err
	}
	b, err := io.ReadAll(resp.Body)
	return string(b), errors.Join(err, resp.Body.Close())
}

// A request, the daemon's own message, and the answer are three messages.
func TestRequest(t *testing.T) {
	served := 0
	tr := world(t, strategy.NewSerial(), sim.Budget{}, &served, func(ctx context.Context, _ *sim.World, c *http.Client) {
		if got, err := ask(ctx, c); got != "1" || err != nil {
			t.Errorf("%q, %v", got, err)
		}
	})
	var got []string
	for _, s := range tr.Steps {
		got = append(got, fmt.Sprint(s.Choice.Op.Actor, " ", s.Choice.Op.Key))
	}
	want := []string{"plugin CALL sockets/node-a/run/ipamd.sock POST /v1/addresses", "ipamd PUT record", "plugin ANSWER sockets/node-a/run/ipamd.sock POST /v1/addresses"}
	if fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("%q, want %q", got, want)
	}
}

// While its daemon is down a caller is refused; the next daemon answers.
func TestRestart(t *testing.T) {
	served, calls := 0, 0
	world(t, strategy.NewSerial(), sim.Budget{}, &served, func(ctx context.Context, w *sim.World, c *http.Client) {
		calls++
		if calls == 2 {
			if got, err := ask(ctx, c); got != "1" || err != nil {
				t.Errorf("the next daemon: %q, %v", got, err)
			}
			return
		}
		w.Kill("ipamd")
		if _, err := ask(ctx, c); !local.Refused(err) || !errors.Is(err, syscall.ECONNREFUSED) {
			t.Errorf("nobody listens: %v", err)
		}
	})
	if calls != 2 {
		t.Errorf("%d calls", calls)
	}
}

// If a daemon dies during a request, the caller's connection breaks.
func TestDeath(t *testing.T) {
	served := 0
	calls := 0
	world(t, strategy.NewSerial(), sim.Budget{}, &served, func(ctx context.Context, w *sim.World, c *http.Client) {
		if calls++; calls == 2 {
			return
		}
		w.Hooks.Step = func(s *sim.Step) {
			if s.Choice.Op.Request != nil && s.Choice.Op.Request.Verb == "CALL" {
				w.Kill("ipamd")
			}
		}
		if got, err := ask(ctx, c); err == nil {
			t.Errorf("a dead daemon answers %q", got)
		}
		w.Hooks.Step = nil
	})
	if served != 0 {
		t.Errorf("it served %d", served)
	}
}

// The schedule may lose the request, which is then not served, or the answer.
func TestLost(t *testing.T) {
	got := map[string]bool{}
	for seed := range uint64(40) {
		served := 0
		st := strategy.NewTimed(seed, strategy.Settings{Faults: strategy.FaultRates{sim.FailBefore: 0.4, sim.LoseReply: 0.4}})
		world(t, st, sim.Budget{Allowed: sim.Of(sim.FailBefore, sim.LoseReply), Max: 1}, &served, func(ctx context.Context, _ *sim.World, c *http.Client) {
			_, err := ask(ctx, c)
			if err != nil && !errors.Is(err, syscall.ECONNRESET) {
				t.Errorf("seed %d: %v", seed, err)
			}
			got[fmt.Sprintf("served %d, lost %t", served, err != nil)] = true
		})
	}
	for _, want := range []string{"served 1, lost false", "served 0, lost true", "served 1, lost true"} {
		if !got[want] {
			t.Errorf("never %q: %v", want, got)
		}
	}
}

// The same seed gives the same run, including net/http's part.
func TestRepeats(t *testing.T) {
	digest := func() uint64 {
		served := 0
		return world(t, strategy.NewRandom(7, strategy.Settings{}), sim.Budget{}, &served, func(ctx context.Context, _ *sim.World, c *http.Client) {
			for range 3 {
				_, _ = ask(ctx, c)
			}
		}).Digest()
	}
	if a, b := digest(), digest(); a != b {
		t.Errorf("%x and %x", a, b)
	}
}

// A second daemon on the same socket is refused.
func TestTwoDaemons(t *testing.T) {
	s := local.New("node-a")
	if _, err := s.Dial(t.Context(), socket); !errors.Is(err, syscall.ENOENT) {
		t.Errorf("nobody has ever listened: %v", err)
	}
	first, err := s.Listen(t.Context(), socket)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.Listen(t.Context(), socket); !errors.Is(err, syscall.EADDRINUSE) {
		t.Errorf("a second one: %v", err)
	}
	if err := first.Close(); err != nil {
		t.Error(err)
	}
	if _, err := s.Dial(t.Context(), socket); !errors.Is(err, syscall.ECONNREFUSED) {
		t.Errorf("nobody listens any more: %v", err)
	}
}
