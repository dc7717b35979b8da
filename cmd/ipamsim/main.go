// Command ipamsim runs the real code of IP address managers as processes of a
// simulated cluster, in virtual time, under schedules that a seed decides, and
// says which invariant broke, when, and how to see it again.
//
// The program is package cli. An author of an address manager builds the same
// program with a manager of their own: ipamsim init --manager NAME writes it.
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
