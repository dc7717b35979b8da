package calico

import (
	"context"
	"fmt"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"ipamsim/sim"
	"ipamsim/sim/hermetic"
	"ipamsim/sim/ipam/calico/ctl"
	"ipamsim/sim/longtest"
)

// Errors in a command line are reported before the run.
func TestCheckCommand(t *testing.T) {
	for line, want := range map[string]string{
		"calicoctl ipam show":                                                     "",
		"calicoctl ipam show --ip=10.64.75.1":                                     "",
		"calicoctl ipam show --ip 2001:db8::1":                                    "",
		"calicoctl ipam show --show-blocks --allow-version-mismatch":              "",
		"calicoctl ipam check --show-all-ips -o report.json":                      "",
		"calicoctl ipam release --ip=10.64.75.1":                                  "",
		"calicoctl ipam release --from-report=a --from-report=b --force":          "",
		"calicoctl ipam configure --strictaffinity=true":                          "",
		"calicoctl ipam configure --strictaffinity=false --max-blocks-per-host=0": "",
		"calicoctl ipam configure --strictaffinity=true --max-blocks-per-host=2":  "",
		"":                                   `calico: an empty command: only "calicoctl ipam COMMAND" and "calicoctl delete ippool NAME" are simulated`,
		"kubectl get pods":                   `calico: "kubectl get pods": only "calicoctl ipam COMMAND" and "calicoctl delete ippool NAME" are simulated`,
		"calicoctl get ippool":               `calico: "calicoctl get ippool": only "calicoctl ipam COMMAND" and "calicoctl delete ippool NAME" are simulated`,
		"calicoctl ipam":                     `calico: "calicoctl ipam": only "calicoctl ipam COMMAND" and "calicoctl delete ippool NAME" are simulated`,
		"calicoctl ipam split 2 --name=p":    `calico: calicoctl ipam: there is no "split" here, only check, configure, release, show`,
		"calicoctl ipam show --blocks":       "invalid option: 'calicoctl ipam show --blocks'; usage: calicoctl ipam show [--ip=<IP> | --show-blocks | --show-borrowed | --show-configuration] [--config=<CONFIG>] [--allow-version-mismatch]",
		"calicoctl ipam show --ip=10.64.75":  "invalid IP address specified: 10.64.75",
		"calicoctl ipam show --ip=fe80::1%0": "invalid IP address specified: fe80::1%0",
		"calicoctl ipam show --ip=1.2.3.4 --show-blocks":                          "invalid option: 'calicoctl ipam show --ip=1.2.3.4 --show-blocks'; usage: calicoctl ipam show [--ip=<IP> | --show-blocks | --show-borrowed | --show-configuration] [--config=<CONFIG>] [--allow-version-mismatch]",
		"calicoctl ipam show --config=x":                                          "calico: --config x: a simulated operator has one cluster only",
		"calicoctl ipam show --help":                                              "calico: --help is not simulated; usage: calicoctl ipam show [--ip=<IP> | --show-blocks | --show-borrowed | --show-configuration] [--config=<CONFIG>] [--allow-version-mismatch]",
		"calicoctl ipam check --kubeconfig x":                                     "calico: --kubeconfig x: a simulated operator has one cluster only",
		"calicoctl ipam release":                                                  "calico: calicoctl ipam release without --ip and --from-report would do nothing",
		"calicoctl ipam release --ip=web-0":                                       "invalid IP address specified: web-0",
		"calicoctl ipam configure":                                                "invalid option: 'calicoctl ipam configure'; usage: calicoctl ipam configure --strictaffinity=<true/false> [--max-blocks-per-host=<number>] [--config=<CONFIG>] [--allow-version-mismatch]",
		"calicoctl ipam configure --strictaffinity=maybe":                         "invalid value. Use true or false to set strictaffinity",
		"calicoctl ipam configure --strictaffinity=true --max-blocks-per-host=x":  "invalid value for maxblockhost. Use a valid number",
		"calicoctl ipam configure --strictaffinity=false --max-blocks-per-host=1": "MaxBlocksPerHost requires StrictAffinity to be enabled",
	} {
		got := ""
		if err := ctl.Check(strings.Fields(line)); err != nil {
			got = err.Error()
		}
		if got != want {
			t.Errorf("%s\n got %s\nwant %s", line, got, want)
		}
	}
}

// The commands of seeds/000, in calicoctl's own layout, on its cluster.
func TestShow(t *testing.T) {
	tables := []struct{ line, want string }{
		{"calicoctl ipam show", `
+----------+---------------+-----------+------------+-----------+
| GROUPING |     CIDR      | IPS TOTAL | IPS IN USE | IPS FREE  |
+----------+---------------+-----------+------------+-----------+
| IP Pool  | 10.64.75.0/24 |       256 | 93 (36%)   | 163 (64%) |
+----------+---------------+-----------+------------+-----------+
`},
		{"calicoctl ipam show --show-blocks", `
+----------+-----------------+-----------+------------+-----------+
| GROUPING |      CIDR       | IPS TOTAL | IPS IN USE | IPS FREE  |
+----------+-----------------+-----------+------------+-----------+
| IP Pool  | 10.64.75.0/24   |       256 | 93 (36%)   | 163 (64%) |
| Block    | 10.64.75.0/26   |        64 | 45 (70%)   | 19 (30%)  |
| Block    | 10.64.75.128/26 |        64 | 45 (70%)   | 19 (30%)  |
| Block    | 10.64.75.192/26 |        64 | 1 (2%)     | 63 (98%)  |
| Block    | 10.64.75.64/26  |        64 | 2 (3%)     | 62 (97%)  |
+----------+-----------------+-----------+------------+-----------+
`},
		{"calicoctl ipam show --show-borrowed", `
+-------------+----------------+----------------+---------------+------+-------------------------+
|     IP      | BORROWING-NODE |     BLOCK      |  BLOCK OWNER  | TYPE |      ALLOCATED-TO       |
+-------------+----------------+----------------+---------------+------+-------------------------+
| 10.64.75.65 | kubestage1003  | 10.64.75.64/26 | kubestage1001 | pod  | default/kubestage1003-0 |
+-------------+----------------+----------------+---------------+------+-------------------------+
`},
		{"calicoctl ipam configure --strictaffinity=true", `
Successfully set StrictAffinity to: true
`},
		{"calicoctl ipam show --show-configuration", `
+--------------------+-------+
|      PROPERTY      | VALUE |
+--------------------+-------+
| StrictAffinity     | true  |
| AutoAllocateBlocks | true  |
| MaxBlocksPerHost   |     0 |
+--------------------+-------+
`},
		{"calicoctl ipam show --ip=10.64.75.66", "\n10.64.75.66 is not assigned\n"},
		{"calicoctl ipam show --ip=10.1.1.1", "\n10.1.1.1 is not assigned\n"},
		{"calicoctl ipam release --ip=10.64.75.66", "\nIP address 10.64.75.66 is not assigned\n"},
	}
	const report = "+--------------------+-------+ | PROPERTY | VALUE | +--------------------+-------+ | StrictAffinity | true |" +
		" | AutoAllocateBlocks | true | | MaxBlocksPerHost | 0 | +--------------------+-------+"
	for _, ds := range datastores {
		consolePlay(t, gcRun{datastore: ds}, func(_ context.Context, w console) {
			w.wikimedia()
			for _, c := range tables {
				if diff := cmp.Diff(c.want, "\n"+w.command(c.line)); diff != "" {
					t.Errorf("%s: %s (-want +got)\n%s", ds, c.line, diff)
				}
			}
			if got := strings.Join(strings.Fields(w.command("calicoctl ipam show --show-configuration")), " "); got != report {
				t.Errorf("%s: got %q, in the report it is %q", ds, got, report)
			}
			lines := strings.Split(w.command("calicoctl ipam show --ip=10.64.75.65"), "\n")
			if len(lines) != 6 || lines[0] != "IP 10.64.75.65 is in use" || lines[1] != "Attributes:" {
				t.Errorf("%s: show --ip: %q", ds, lines)
			}
		})
	}
}

// An operator releases the address of a running pod. The pod keeps using it, and the next pod
// that requests it gets it.
func TestReleaseOfALiveAddress(t *testing.T) {
	for _, ds := range datastores {
		consolePlay(t, gcRun{datastore: ds}, func(_ context.Context, w console) {
			w.healthy()
			w.expect("calicoctl ipam release --ip=10.64.75.193", "Successfully released IP address 10.64.75.193")
			w.expect("calicoctl ipam show --ip=10.64.75.193", "10.64.75.193 is not assigned")
			w.expect("calicoctl ipam release --ip=10.64.75.193", "IP address 10.64.75.193 is not assigned")
			w.expect("calicoctl ipam check --show-problem-ips",
				"10.64.75.193 in use by Workload(default/a-k8s-web--1-eth0) and in active IPAM pool but has no IPAM allocation.",
				"calicoctl ipam check found 1 problems")
			for i := 0; w.allocations() < 64; i++ { // a freed address is the last to be given again
				w.assign(fmt.Sprint("more-", i), "a")
			}
			w.expect("calicoctl ipam show --ip=10.64.75.193", "IP 10.64.75.193 is in use", "pod: more-61")
			w.expect("calicoctl ipam check", "Found 61 IPs that are allocated in IPAM but not actually in use.")
		})
	}
}

// A command that writes is a process like any other: its reads and writes are messages. The
// outputs of two concurrent commands do not mix.
func TestConfigureIsScheduled(t *testing.T) {
	for _, ds := range datastores {
		tr := consolePlay(t, gcRun{datastore: ds}, func(_ context.Context, w console) {
			w.healthy()
			var wait []*sim.Actor
			for _, strict := range []string{"true", "false"} {
				wait = append(wait, w.Spawn(sim.Process{ID: sim.ActorID("operator-" + strict), Run: func(ctx context.Context, g *sim.Gate) error {
					out, err := w.in.Command(ctx, g, []string{"calicoctl", "ipam", "configure", "--strictaffinity=" + strict})
					if out != "Successfully set StrictAffinity to: "+strict+"\n" || err != nil {
						t.Errorf("%q %v", out, err)
					}
					return err
				}}))
			}
			for _, a := range wait {
				<-a.Done()
			}
		})
		got := map[sim.ActorID]int{}
		for _, s := range tr.Steps {
			got[s.Choice.Op.Actor]++
		}
		if got["operator-true"] < 3 || got["operator-false"] < 2 {
			t.Errorf("%s: messages: %v", ds, got)
		}
	}
}

// The same seed prints the same bytes, even if upstream iterates over a map.
func TestCommandsRepeat(t *testing.T) {
	longtest.Skip(t)
	if !hermetic.Enabled {
		t.Skip("the order of maps is the seed's on the hermetic runtime only")
	}
	for _, ds := range datastores {
		orders := map[string]bool{}
		for seed := range uint64(5) {
			first := ""
			for range 2 {
				out, foreign := "", hermetic.Foreign()
				consolePlay(t, gcRun{datastore: ds, seed: seed}, func(_ context.Context, w console) {
					w.healthy()
					for i := range 5 {
						w.assign(fmt.Sprint("lost-", i), "b")
					}
					out += w.command("calicoctl ipam show --ip=10.64.75.192")
					out += w.command("calicoctl ipam check --show-problem-ips")
					out += w.command("calicoctl ipam configure --strictaffinity=true")
				})
				if foreign = hermetic.Foreign() - foreign; foreign > 0 {
					t.Errorf("%s seed %d: %d wake-ups from outside", ds, seed, foreign)
				}
				if first == "" {
					first = out
				}
				if diff := cmp.Diff(first, out); diff != "" {
					t.Errorf("%s seed %d (-first +second)\n%s", ds, seed, diff)
				}
			}
			orders[first] = true
		}
		if len(orders) == 1 {
			t.Errorf("%s: five seeds print one order of everything", ds)
		}
	}
}

// Concurrent runs in one process do not mix their output, and standard output is restored.
func TestCommandsOfSeveralRuns(t *testing.T) {
	longtest.Skip(t)
	stdout := os.Stdout
	var wg sync.WaitGroup
	for n := range 8 {
		wg.Go(func() {
			consolePlay(t, gcRun{datastore: datastores[n%2]}, func(_ context.Context, w console) {
				w.cluster(fmt.Sprintf("10.0.%d.0/24", n), "a")
				for range 20 {
					w.expect("calicoctl ipam show", fmt.Sprintf("10.0.%d.0/24", n))
					w.expect("calicoctl ipam configure --strictaffinity=true", "Successfully set StrictAffinity to: true")
					ip := w.expect(fmt.Sprintf("calicoctl ipam show --ip=10.0.%d.1", n))
					if want := fmt.Sprintf("10.0.%d.1 is not assigned\n", n); ip != want {
						t.Errorf("run %d: got %q", n, ip)
					}
				}
			})
		})
	}
	wg.Wait()
	if os.Stdout != stdout {
		t.Error("standard output was not given back")
	}
}

// An operator's process that dies in the middle of a command leaves standard output, and the turn
// of the next command, unchanged.
func TestCommandKilled(t *testing.T) {
	stdout := os.Stdout
	for _, ds := range datastores {
		for written := range 2 {
			consolePlay(t, gcRun{datastore: ds, options: sim.Options{Service: map[string]time.Duration{"api": time.Second}}}, func(_ context.Context, w console) {
				w.cluster("10.64.75.0/24", "a")
				a := w.Spawn(sim.Process{ID: "operator", Mortal: true, Run: func(ctx context.Context, g *sim.Gate) error {
					_, err := w.in.Command(ctx, g, strings.Fields("calicoctl ipam configure --strictaffinity=true"))
					return err
				}})
				time.Sleep(time.Duration(written)*10*time.Second + time.Millisecond)
				w.Kill("operator")
				<-a.Done()
				if (a.Err() == nil) != (written == 1) {
					t.Errorf("%s: killed after %d: %v", ds, written, a.Err())
				}
				strict := []string{"| StrictAffinity     | false |", "| StrictAffinity     | true  |"}[written]
				w.expect("calicoctl ipam show --show-configuration", strict)
			})
		}
	}
	if os.Stdout != stdout {
		t.Error("standard output was not given back")
	}
}
