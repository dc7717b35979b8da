package space

import "ipamsim/scenarios"

// All are the managers, for tests in this package: the list of managers imports it.
var All scenarios.Managers
