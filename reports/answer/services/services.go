// Package services configures answers of plans about Services.
package services

import "ipamsim/reports/answer"

// Answers configures answers for Services. Such a plan has no nodes, blocks or routes.
var Answers = answer.Manager{
	Tenants: "Services", Minimise: "waste", With: []string{"nodePorts", "inBand"},
	Without: []string{
		"unplaced", "unplacedMax", "starved", "blackholed", "blackholedHours", "borrowed", "routes", "stranded", "blocksPerNode", "stale",
	},
}
