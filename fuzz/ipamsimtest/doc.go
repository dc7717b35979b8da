// Package ipamsimtest tests an address manager from its own repository, with go test. The manager's
// real code runs in a simulated cluster, in virtual time, under a schedule that a seed decides. The
// invariants of ipamsim are checked after every step.
//
//	func TestConform(t *testing.T)  { ipamsimtest.Conform(t, simulation.Manager(), "../scenarios/full.yaml") }
//	func TestRollout(t *testing.T)  { ipamsimtest.Run(t, simulation.Manager(), "../scenarios/rollout.yaml") }
//	func FuzzSchedule(f *testing.F) { ipamsimtest.Fuzz(f, simulation.Manager(), "../scenarios/rollout.yaml") }
//	func FuzzFirstfree(f *testing.F) { ipamsimtest.FuzzSpace(f, simulation.Manager()) }
//
// A manager is an *ipam.Manager (package ipamsim/sim/ipam). What its code must not do
// in the simulation is in this folder's README.md. "ipamsim init --manager NAME" writes
// a repository to begin with.
//
// Build tests with
//
//	go run ipamsim/cmd/hermetic go test ./...
//
// With Go's own runtime the same seed need not be the same run: Run then still checks the run, and
// tests that need runs that repeat are skipped.
//
// The package does not change the process: its environment, its files, GOGC or GOMAXPROCS.
// A run uses one processor at a time; GOMAXPROCS=1 makes it faster by a third.
package ipamsimtest
