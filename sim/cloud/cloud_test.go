package cloud_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"testing"
	"time"

	"ipamsim/sim"
	"ipamsim/sim/cloud"
	"ipamsim/sim/strategy"
)

// options describe a provider with two operations: assign gives an interface addresses, and
// describe lists them.
func options() cloud.Options {
	type assign struct {
		Interface string
		Addresses []string
	}
	return cloud.Options{
		Name: "ec2",
		Operations: map[string]cloud.Operation{
			"assign": {Handle: func(c *cloud.Call) (any, error) {
				var in assign
				if err := c.Decode(&in); err != nil {
					return nil, err
				}
				for _, a := range in.Addresses {
					if err := c.Put(cloud.Resource{Kind: cloud.Address, ID: a, In: in.Interface}); err != nil {
						return nil, err
					}
				}
				return struct{}{}, nil
			}},
			"describe": {Reads: true, Handle: func(c *cloud.Call) (any, error) {
				var in assign
				if err := c.Decode(&in); err != nil {
					return nil, err
				}
				out := assign{Interface: in.Interface}
				for _, r := range c.List(cloud.Address, in.Interface) {
					out.Addresses = append(out.Addresses, r.ID)
				}
				return out, nil
			}},
			"unassign": {Handle: func(c *cloud.Call) (any, error) {
				var in assign
				if err := c.Decode(&in); err != nil {
					return nil, err
				}
				for _, a := range in.Addresses {
					if err := c.Delete(cloud.Address, a); err != nil {
						return nil, err
					}
				}
				return struct{}{}, nil
			}},
		},
	}
}

type request struct {
	Interface string
	Addresses []string
}

// run executes one process of a run with a provider.
func run(t *testing.T, st sim.Strategy, faults sim.Budget, o cloud.Options, f func(context.Context, *sim.Gate, *cloud.Cloud)) *sim.Trace {
	t.Helper()
	tr, err := sim.Run(t.Context(), sim.Options{Strategy: st, Faults: faults}, func(w *sim.World) error {
		c := cloud.New(w, o)
		w.Spawn(sim.Process{ID: "ipamd", Run: func(ctx context.Context, g *sim.Gate) error {
			defer w.Finish()
			f(ctx, g, c)
			return nil
		}})
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return tr
}

// A burst of ten calls, then two a second.
func TestRateLimit(t *testing.T) {
	o := options()
	o.Reads = cloud.Bucket{Rate: 2, Burst: 10}
	run(t, strategy.NewSerial(), sim.Budget{}, o, func(ctx context.Context, g *sim.Gate, c *cloud.Cloud) {
		calls := func() (served int) {
			for range 20 {
				switch err := c.Call(ctx, g, "describe", request{}, nil); {
				case err == nil:
					served++
				case !errors.Is(err, cloud.ErrThrottled):
					t.Error(err)
				}
			}
			return served
		}
		if n := calls(); n != 10 {
			t.Errorf("%d calls at once", n)
		}
		time.Sleep(3 * time.Second)
		if n := calls(); n != 6 {
			t.Errorf("%d calls after three seconds", n)
		}
		if err := c.Call(ctx, g, "assign", request{}, nil); err != nil {
			t.Errorf("writes have a bucket of their own: %v", err)
		}
	})
}

// A read may lag, a write never; the schedule draws the lag.
func TestLag(t *testing.T) {
	o := options()
	o.Lag = 4 * time.Second
	seen := map[string]bool{}
	for seed := range uint64(30) {
		run(t, strategy.NewRandom(seed, strategy.Settings{}), sim.Budget{}, o, func(ctx context.Context, g *sim.Gate, c *cloud.Cloud) {
			if err := c.Call(ctx, g, "assign", request{"eni-1", []string{"10.0.0.4"}}, nil); err != nil {
				t.Fatal(err)
			}
			var out request
			if err := c.Call(ctx, g, "describe", request{Interface: "eni-1"}, &out); err != nil {
				t.Fatal(err)
			}
			seen[fmt.Sprint(out.Addresses)] = true
			time.Sleep(10 * time.Second)
			if err := c.Call(ctx, g, "describe", request{Interface: "eni-1"}, &out); err != nil || len(out.Addresses) != 1 {
				t.Errorf("after the lag: %v, %v", out, err)
			}
		})
	}
	if !seen["[]"] || !seen["[10.0.0.4]"] {
		t.Errorf("seen: %v", seen)
	}
}

// The quota of an interface, and missing resources.
func TestQuota(t *testing.T) {
	o := options()
	o.Quota = map[cloud.Kind]int{cloud.Address: 2}
	run(t, strategy.NewSerial(), sim.Budget{}, o, func(ctx context.Context, g *sim.Gate, c *cloud.Cloud) {
		err := c.Call(ctx, g, "assign", request{"eni-1", []string{"10.0.0.4", "10.0.0.5", "10.0.0.6"}}, nil)
		if !errors.Is(err, cloud.ErrQuota) || len(c.Now(cloud.Address, "eni-1")) != 2 {
			t.Errorf("%v, %v", err, c.Now(cloud.Address, ""))
		}
		if err := c.Call(ctx, g, "assign", request{"eni-2", []string{"10.0.0.6"}}, nil); err != nil {
			t.Error(err)
		}
		if err := c.Call(ctx, g, "unassign", request{"eni-2", []string{"10.0.0.9"}}, nil); !errors.Is(err, cloud.ErrNotFound) {
			t.Error(err)
		}
		refusal := (*cloud.Error)(nil)
		if err := c.Call(ctx, g, "conjure", request{}, nil); !errors.As(err, &refusal) || refusal.Code != "InvalidAction" {
			t.Error(err)
		}
	})
}

// A share of calls is refused, and a share of writes fails in the middle; neither happens
// before or after the fault.
func TestFaults(t *testing.T) {
	refused, partial, calls := 0, 0, 0
	for seed := range uint64(20) {
		run(t, strategy.NewRandom(seed, strategy.Settings{}), sim.Budget{}, options(), func(ctx context.Context, g *sim.Gate, c *cloud.Cloud) {
			end := c.Fail(cloud.Refuse, 0.2)
			for range 50 {
				calls++
				if errors.Is(c.Call(ctx, g, "describe", request{}, nil), cloud.ErrUnavailable) {
					refused++
				}
			}
			end()
			end = c.Fail(cloud.Partial, 0.5)
			two := request{"eni-1", []string{"10.0.0.4", "10.0.0.5"}}
			if errors.Is(c.Call(ctx, g, "assign", two, nil), cloud.ErrInternal) && len(c.Now(cloud.Address, "eni-1")) == 1 {
				partial++
			}
			end()
			if err := c.Call(ctx, g, "assign", two, nil); err != nil {
				t.Errorf("after the faults: %v", err)
			}
		})
	}
	if share := float64(refused) / float64(calls); share < 0.16 || share > 0.24 {
		t.Errorf("%.2f of the calls were refused, want 0.2", share)
	}
	if partial < 5 || partial > 15 {
		t.Errorf("%d of 20 failed in the middle, want about 10", partial)
	}
}

// The schedule may lose an answer of an executed call.
func TestLost(t *testing.T) {
	st := strategy.NewTimed(1, strategy.Settings{Faults: strategy.FaultRates{sim.LoseReply: 1}})
	run(t, st, sim.Budget{Allowed: sim.Of(sim.LoseReply), Max: 1}, options(), func(ctx context.Context, g *sim.Gate, c *cloud.Cloud) {
		err := c.Call(ctx, g, "assign", request{"eni-1", []string{"10.0.0.4"}}, nil)
		if !errors.Is(err, cloud.ErrLost) || len(c.Now(cloud.Address, "eni-1")) != 1 {
			t.Errorf("%v, %v", err, c.Now(cloud.Address, ""))
		}
	})
}

// The same calls over HTTP.
func Example() {
	_, err := sim.Run(context.Background(), sim.Options{Strategy: strategy.NewSerial()}, func(w *sim.World) error {
		c := cloud.New(w, options())
		w.Spawn(sim.Process{ID: "ipamd", Run: func(ctx context.Context, g *sim.Gate) error {
			defer w.Finish()
			client := &http.Client{Transport: c.Transport(g, cloud.Wire{})}
			for _, call := range []struct{ operation, input string }{
				{"assign", `{"interface":"eni-1","addresses":["10.0.0.4"]}`},
				{"describe", `{"interface":"eni-1"}`},
				{"unassign", `{"addresses":["10.0.0.9"]}`},
			} {
				resp, err := client.Post("http://ec2.sim/"+call.operation, "application/json", bytes.NewBufferString(call.input))
				if err != nil {
					return err
				}
				body, err := io.ReadAll(resp.Body)
				if err != nil {
					return err
				}
				fmt.Println(call.operation, resp.StatusCode, string(body))
			}
			return nil
		}})
		return nil
	})
	if err != nil {
		fmt.Println(err)
	}
	// Output:
	// assign 200 {}
	// describe 200 {"Interface":"eni-1","Addresses":["10.0.0.4"]}
	// unassign 400 {"code":"NotFound","message":"The resource does not exist."}
}
