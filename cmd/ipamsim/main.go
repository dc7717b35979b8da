// Command ipamsim runs the real code of IP address managers as processes of a simulated cluster, in virtual time, under
// schedules that a seed decides, and reports which invariant was violated, when, and how to reproduce it.
//
// The program is package cli. An author of an address manager builds the same program with their own manager: ipamsim
// init --manager NAME writes it.
package main

import (
	"ipamsim/cmd/cli"
	"ipamsim/cmd/controllers"
	"ipamsim/cmd/managers"
)

func main() {
	controllers.Use()
	cli.Main(managers.All()...)
}
