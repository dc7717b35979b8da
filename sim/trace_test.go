package sim_test

import (
	"bytes"
	"context"
	"errors"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"ipamsim/reports/golden"
	"ipamsim/sim"
	"ipamsim/sim/strategy"
)

// Law: ParseStep reads back everything that String wrote.
func TestParseStepInvertsString(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(0, 1<<30)
		want := &sim.Step{
			Decision: sim.Decision{
				Step: n.Draw(t, "step"), Pick: n.Draw(t, "pick"), Enabled: n.Draw(t, "enabled"),
				At: time.Duration(rapid.Int64Range(0, int64(100*365*24*time.Hour)).Draw(t, "at")),
				Choice: sim.Choice{
					Outcome: rapid.SampledFrom([]sim.Outcome{sim.Proceed, sim.FailBefore, sim.LoseReply, sim.Stale, sim.Drop, sim.Gone, sim.Crash}).Draw(t, "outcome"),
					Level:   rapid.IntRange(0, 60).Draw(t, "level"),
					Op: sim.Op{
						Actor: sim.ActorID(rapid.StringMatching(`[!#-~]{1,30}`).Draw(t, "actor")),
						Seq:   n.Draw(t, "seq"),
						Key:   rapid.String().Draw(t, "key"),
					},
				},
			},
			Note: rapid.String().Draw(t, "note"),
		}
		line := want.String()
		if strings.Contains(line, "\n") {
			t.Fatalf("more than one line: %q", line)
		}
		got, err := sim.ParseStep(line)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Fatalf("%s (-want +got):\n%s", line, diff)
		}
	})
}

func TestParseStepSaysWhatIsWrong(t *testing.T) {
	good := `12 1.532000001 2/7 fail-before.3 cni-add/web-2/net1#4 "PATCH ippools/10.0.0.0-24" "200 rv=17"`
	if _, err := sim.ParseStep(good); err != nil {
		t.Fatal(err)
	}
	tests := []struct{ old, bad, want string }{
		{"12 ", "", "want NUMBER"},
		{"12 ", "twelve ", "number"},
		{"1.532000001", "soon", "time"},
		{"1.532000001", "-1.5", "time"},
		{"2/7", "2of7", "pick"},
		{"fail-before", "explode", `unknown outcome "explode"`},
		{".3", ".many", "level"},
		{"#4", "", "ACTOR#N"},
		{"#4", "#four", "message number"},
		{` "200 rv=17"`, "", "quoted text"},
		{`17"`, `17`, "quoted text"},
		{`17"`, `17" and more`, "quoted text"},
		{good, "", "want NUMBER"},
	}
	for _, tt := range tests {
		line := strings.Replace(good, tt.old, tt.bad, 1)
		if _, err := sim.ParseStep(line); err == nil || !strings.Contains(err.Error(), tt.want) || !strings.Contains(err.Error(), strconv.Quote(line)) {
			t.Errorf("%s\ngot  %v\nwant ...%s... and the line", line, err, tt.want)
		}
	}
}

// lostUpdate is two processes that read a counter and write it back plus one.
func lostUpdate(s *server, counter *int) []sim.Process {
	add := func(ctx context.Context, g *sim.Gate) error {
		var n int
		read := sim.Op{Kind: sim.Read, Key: "GET counter", Faults: sim.Of(sim.Stale)}
		if err := g.Pass(ctx, read, func(ctx context.Context) error { n = *counter; return s.take(ctx, "get") }); err != nil {
			return err
		}
		write := sim.Op{Kind: sim.Write, Key: "PUT counter", Faults: sim.Of(sim.FailBefore, sim.LoseReply)}
		return g.Pass(ctx, write, func(ctx context.Context) error { *counter = n + 1; return s.take(ctx, "put") })
	}
	return []sim.Process{proc("alice", add), proc("bob", add)}
}

// The text of a small trace, as people will read it.
func TestTraceGolden(t *testing.T) {
	var s server
	var counter int
	o := single(scripted("delay alice#1", "=10", "proceed bob#1", "proceed alice#1", "lose-reply alice#2"))
	o.Faults = everything
	tr := run(t, o, lostUpdate(&s, &counter)...)
	var b bytes.Buffer
	if err := tr.Print(&b); err != nil {
		t.Fatal(err)
	}
	golden.Check(t, "testdata/lostupdate.trace", b.String())
}

// A schedule is the whole run: replayed, it gives the identical trace.
func TestReplayIsIdentical(t *testing.T) {
	for seed := range uint64(100) {
		var s server
		var counter int
		for _, st := range []sim.Strategy{strategy.NewRandom(seed, strategy.Settings{}), strategy.NewTimed(seed, strategy.Settings{})} {
			o := single(st)
			o.Faults = everything
			tr := run(t, o, lostUpdate(&s, &counter)...)

			var again server
			var counter2 int
			replay := strategy.NewReplay(tr.Schedule())
			o.Strategy = replay
			tr2 := run(t, o, lostUpdate(&again, &counter2)...)
			s, counter = server{}, 0
			if err := replay.Err(); err != nil {
				t.Errorf("%v: %v", st, err)
			}
			if tr.Digest() != tr2.Digest() {
				t.Errorf("%v: digest %x, replayed %x", st, tr.Digest(), tr2.Digest())
			}
		}
	}
}

// The digest sees every step, its note, and the decisions between the steps.
func TestDigestSeesEverything(t *testing.T) {
	digest := func(change func(o *sim.Options, note *string), script ...string) uint64 {
		note := "rv=1"
		o := single(scripted(script...))
		if change != nil {
			change(&o, &note)
		}
		return run(t, o, proc("a", func(ctx context.Context, g *sim.Gate) error {
			return g.Pass(ctx, sim.Op{Key: "x"}, func(ctx context.Context) error { sim.Report(ctx, note, "detail"); return nil })
		})).Digest()
	}
	plain := digest(nil)
	if plain != digest(nil) {
		t.Error("the digest of the same run differs")
	}
	for name, other := range map[string]uint64{
		"note":    digest(func(_ *sim.Options, n *string) { *n = "rv=2" }),
		"delay":   digest(nil, "delay a#1", "=0"),
		"elapse":  digest(nil, "elapse"),
		"service": digest(func(o *sim.Options, _ *string) { o.Service = map[string]time.Duration{"api": 1} }),
	} {
		if plain == other {
			t.Errorf("the digest does not see a change of: %s", name)
		}
	}
}

// A writer's error ends Print.
func TestPrintError(t *testing.T) {
	tr := &sim.Trace{Steps: []*sim.Step{{}, {}}}
	full := errors.New("disk full")
	if err := tr.Print(failing{full}); err != full {
		t.Errorf("got %v, want %v", err, full)
	}
}

type failing struct{ err error }

func (f failing) Write([]byte) (int, error) { return 0, f.err }
