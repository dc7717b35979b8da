package localgrpc_test

import (
	"context"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/health"
	pb "google.golang.org/grpc/health/grpc_health_v1"
	"google.golang.org/grpc/status"

	"ipamsim/sim"
	"ipamsim/sim/local"
	"ipamsim/sim/local/localgrpc"
	"ipamsim/sim/strategy"
)

const socket = "/run/ipamd.sock"

// story runs a plugin that calls gRPC's own health service twice: of a running daemon and of a
// killed one. It returns the codes and the digest.
func story(t *testing.T, seed uint64, faults sim.Budget) (got []codes.Code, digest uint64) {
	t.Helper()
	st := strategy.NewTimed(seed, strategy.Settings{Faults: strategy.FaultRates{sim.LoseReply: 1}})
	tr, err := sim.Run(t.Context(), sim.Options{Seed: seed, Strategy: st, Faults: faults}, func(w *sim.World) error {
		s := local.New("node-a")
		w.Spawn(sim.Process{ID: "ipamd", Group: "node-a", Run: func(ctx context.Context, _ *sim.Gate) error {
			l, err := s.Listen(ctx, socket)
			if err != nil {
				return err
			}
			server := grpc.NewServer()
			pb.RegisterHealthServer(server, health.NewServer())
			return server.Serve(l)
		}})
		w.Spawn(sim.Process{ID: "plugin", Group: "node-a", Run: func(ctx context.Context, g *sim.Gate) error {
			defer w.Finish()
			time.Sleep(time.Second)
			conn, err := localgrpc.NewClient(ctx, g, s, socket, func(string) bool { return true })
			if err != nil {
				return err
			}
			defer conn.Close()
			for range 2 {
				_, err := pb.NewHealthClient(conn).Check(ctx, &pb.HealthCheckRequest{})
				got = append(got, status.Code(err))
				w.Kill("ipamd")
				time.Sleep(time.Second)
			}
			return nil
		}})
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return got, tr.Digest()
}

// The real client reaches the real server, and is refused after the server's death.
func TestHealth(t *testing.T) {
	got, one := story(t, 1, sim.Budget{})
	if len(got) != 2 || got[0] != codes.OK || got[1] != codes.Unavailable {
		t.Errorf("%v", got)
	}
	if _, again := story(t, 1, sim.Budget{}); again != one {
		t.Errorf("the same seed: %x and %x", one, again)
	}
}

// A lost answer is an Unavailable.
func TestLost(t *testing.T) {
	if got, _ := story(t, 1, sim.Budget{Allowed: sim.Of(sim.LoseReply), Max: 1}); got[0] != codes.Unavailable {
		t.Errorf("%v", got)
	}
}
