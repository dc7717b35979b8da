package timeline_test

import "ipamsim/cmd/controllers"

func init() { controllers.Use() }
