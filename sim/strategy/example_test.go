package strategy_test

import (
	"fmt"

	"ipamsim/sim/strategy"
)

func ExampleParse() {
	s, err := strategy.Parse("timed", 7, strategy.Settings{})
	fmt.Println(s, err)
	// Output:
	// timed(seed=7) <nil>
}
