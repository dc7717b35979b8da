// Package ipamsimtest tests an address manager from its own repository, with go test:
// its real code runs in a simulated cluster, in virtual time, under a schedule that a
// seed decides, and every step is judged by the invariants of ipamsim.
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
// On Go's own runtime the same seed need not be the same run: Run then still judges, and
// whatever needs runs that repeat is skipped and says so.
//
// Nothing here changes the process: not its environment, its files, GOGC or GOMAXPROCS.
// A run uses one processor at a time; GOMAXPROCS=1 makes it faster by a third.
package ipamsimtest
