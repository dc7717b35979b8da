// Command whereabouts is "ipamsim demo" with Whereabouts alone, for make demo: without the other address managers,
// the search, import and plans it compiles in two thirds of the time.
package main

import (
	"os"

	"ipamsim/cmd/cli/exit"
	"ipamsim/cmd/cli/library"
	"ipamsim/cmd/controllers"
	"ipamsim/scenarios"
	"ipamsim/sim/ipam/whereabouts"
)

func main() {
	controllers.Use()
	cmd := library.DemoCommand(scenarios.Managers{whereabouts.New()})
	cmd.SilenceErrors, cmd.SilenceUsage = true, true
	os.Exit(exit.CodeOf(cmd.Execute(), os.Stderr))
}
