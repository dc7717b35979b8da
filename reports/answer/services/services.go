// Package services is what answers of plans know of Services.
package services

import "ipamsim/reports/answer"

// Answers are what is known of Services. There are no nodes, blocks or routes in such a plan.
var Answers = answer.Manager{
	Tenants: "Services", Minimise: "waste", With: []string{"nodePorts", "inBand"},
	Without: []string{
		"unplaced", "unplacedMax", "starved", "blackholed", "blackholedHours", "borrowed", "routes", "stranded", "blocksPerNode", "stale",
	},
}
