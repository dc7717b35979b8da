package baseline

import "testing"

func TestVerdict(t *testing.T) {
	same, written, red := Row{}, Row{Changes: []Change{{}}}, Row{Changes: []Change{{}, {Regression: true}}}
	writtenPool, redPool := written, red
	writtenPool.Pool, redPool.Pool, redPool.Scenario = true, true, "all of calico"
	for want, rows := range map[string][]Row{
		"green: 0 scenarios are as in the baseline":                     nil,
		"green: 1 scenario is as in the baseline":                       {same},
		"green: 2 scenarios are as in the baseline":                     {same, same},
		"green: nothing got worse in 2 scenarios, some results changed": {written, same},
		"green: nothing got worse in 1 scenario, some results changed":  {writtenPool, same},
		"RED: 1 of 3 scenarios got worse":                               {same, red, written},
		"RED: 1 of 1 scenario and all of calico got worse":              {redPool, red},
		"RED: all of calico got worse":                                  {redPool, same, written},
	} {
		if got := (&Outcome{Rows: rows}).Verdict(); got != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
}
