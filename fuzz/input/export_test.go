package input

import "ipamsim/scenarios"

// All are the managers, for tests inside of this package: what lists them imports it.
var All scenarios.Managers
