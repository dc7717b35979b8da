package page_test

import (
	"fmt"
	"time"

	"ipamsim/model"
	"ipamsim/model/recording"
	"ipamsim/reports"
	"ipamsim/reports/record"
	"ipamsim/reports/timeline"
)

// hostile is a name that would be a program if it were ever taken for markup.
const hostile = `<script>alert(1)</script>"'&amp;</script><img src=x onerror=alert(2)>`

// small is a run in which two pods get one address: web-1 gets 10.0.0.1, a
// reconciler removes the claim (its first try is hurt), web-2 gets 10.0.0.1, too.
// node-a cannot reach it on node-b. One of the pods is the given one.
func small(pod string) *record.Record {
	at := func(step int) time.Duration { return time.Duration(step) * time.Second }
	steps := []record.Step{
		{Actor: "scheduler", Kind: "write", Key: "POST binding", Note: "201"},
		{Actor: "cni-add/default/web-1/net1", Kind: "read", Key: "GET pool", Text: "reads pool p: empty"},
		{Actor: "cni-add/default/web-1/net1", Kind: "write", Key: "PATCH pool", Text: "writes 10.0.0.1 for default/web-1", Of: 3},
		{Actor: "reconciler", Kind: "write", Key: "PATCH pool", Note: "500", Outcome: "fail-before", Fault: true, Text: "tries to remove 10.0.0.1"},
		{Actor: "reconciler", Kind: "write", Key: "PATCH pool", Text: "removes 10.0.0.1"},
		{Actor: "cni-add/" + pod + "/net1", Kind: "read", Key: "GET pool", Text: "reads pool p: empty"},
		{Actor: "cni-add/" + pod + "/net1", Kind: "write", Key: "PATCH pool", Text: "writes 10.0.0.1 for " + pod},
		{Actor: "kubelet/node-b", Kind: "event", Key: "HEAR MODIFIED pods/" + pod},
	}
	for i := range steps {
		steps[i].Step, steps[i].At = i+1, at(i+1)
		if steps[i].Outcome == "" {
			steps[i].Outcome = "proceed"
		}
	}
	row := func(t int, key string, cells ...string) recording.Change {
		return recording.Change{Table: t, Key: key, Row: cells}
	}
	return &record.Record{
		Format: record.Format, Scenario: "small", Title: "two pods on " + pod, Story: "First one.\n\nThen " + pod + ".",
		File: "small.yaml", Upstream: "example.org/manager@v1", Seed: 7, Strategy: "timed", Store: "etcd",
		Verdict: reports.Fail, AsExpected: true, Expected: []string{"duplicate-address"}, Virtual: 9 * time.Second, Calls: 8,
		Digest: "0123", Command: "ipamsim run small.yaml --seed 7", Steps: steps,
		Events: []record.Event{
			{Step: 0, Kind: "node", Node: "node-a", Text: "node node-a: up"},
			{Step: 0, Kind: "node", Node: "node-b", Text: "node node-b: up"},
			{Step: 3, At: at(3), Kind: "add-end", Node: "node-a", Pod: "default/web-1", Text: "10.0.0.1 is handed out to default/web-1"},
			{Step: 7, At: at(7), Kind: "add-end", Node: "node-b", Pod: pod, Text: "10.0.0.1 is handed out to " + pod},
		},
		Violations: []record.Violation{
			{Violation: model.Violation{Invariant: "unbacked-sandbox", Severity: model.Major, Step: 5, Message: "default/web-1 has 10.0.0.1, but no claim says so", Objects: []model.Ref{{Kind: model.RefAddress, Name: "10.0.0.1"}}}, At: at(5)},
			{Violation: model.Violation{Invariant: "duplicate-address", Severity: model.Critical, Step: 7, Message: "10.0.0.1 is held by default/web-1 and " + pod, Objects: []model.Ref{{Kind: model.RefAddress, Name: "10.0.0.1"}, {Kind: model.RefPod, Name: pod}, {Kind: model.RefPod, Name: "default/web-1"}}},
				At: at(7), Meaning: "No two live sandboxes hold one address.", Timeline: "the timeline of " + pod,
				Turns: []timeline.Turn{{Step: 3, At: at(3), Text: "10.0.0.1 is handed out to default/web-1"}, {Step: 5, At: at(5), Actor: "reconciler", Text: "removes 10.0.0.1"}, {Step: 7, At: at(7), Text: "10.0.0.1 is handed out AGAIN to " + pod}}},
		},
		Addresses: []record.Held{
			{Network: "default/net", Addr: "10.0.0.2"},
			{Network: "default/net", Addr: "10.0.0.1", Spans: []record.Span{
				{Kind: record.Claimed, From: 3, To: 5, Pod: "default/web-1"}, {Kind: record.Live, From: 3, Pod: "default/web-1", Node: "node-a"},
				{Kind: record.Unbacked, From: 5, Pod: "default/web-1"}, {Kind: record.Claimed, From: 7, Pod: pod},
				{Kind: record.Live, From: 7, Pod: pod, Node: "node-b"}, {Kind: record.Duplicate, From: 7, Pod: "default/web-1, " + pod},
			}},
		},
		Screens: []record.Screen{{Step: 8, At: at(8), Prompt: "root@node-a:~#", Output: "blackhole 10.0.0.0/30\n" + pod}},
		Recording: recording.Recording{
			Tables: []recording.Table{
				{Name: "pools", Title: "Pools", Columns: []string{"pool", "network", "range", "node"}},
				{Name: "claims", Title: "Claims as stored", Columns: []string{"address", "pod"}},
				{Name: "nodes", Title: "Nodes", Columns: []string{"node", "up"}},
				{Name: "routes", Title: "Routing tables", Columns: []string{"node", "destination", "route"}},
				{Name: "reach", Title: "Lost", Columns: []string{"from", "to", "addresses", "why"}},
			},
			Frames: []recording.Frame{
				{Step: 0, Changes: []recording.Change{row(0, "p", "p", "default/net", "10.0.0.0/28", ""), row(2, "a", "node-a", "yes"), row(2, "b", "node-b", "yes"), row(3, "a default", "node-a", "0.0.0.0/0", "default via 10.9.0.1"), row(3, "b 28", "node-b", "10.0.0.0/28", "blackhole 10.0.0.0/28")}},
				{Step: 3, At: at(3), Changes: []recording.Change{row(1, "1", "10.0.0.1", "default/web-1")}},
				{Step: 5, At: at(5), Changes: []recording.Change{{Table: 1, Key: "1"}}},
				{Step: 7, At: at(7), Changes: []recording.Change{row(1, "1", "10.0.0.1", pod), row(3, "a default", "node-a", "0.0.0.0/0", "default via 10.9.0.2"), row(4, "a b", "node-a", "node-b", "10.0.0.1", "swallowed")}},
				{Step: 8, At: at(8), Changes: []recording.Change{row(1, "1", "10.0.0.1", "default/renamed")}},
			},
		},
	}
}

// large is a run of n steps in which pods come and go on 200 addresses of 20 nodes.
func large(n int) *record.Record {
	const addresses, nodes = 200, 20
	rec := small("default/web-2")
	rec.Scenario, rec.Steps, rec.Events, rec.Addresses, rec.Screens = "large", nil, nil, make([]record.Held, addresses), nil
	rec.Recording.Frames = nil
	node := func(i int) string { return fmt.Sprintf("node-%02d", i%nodes) }
	boot := recording.Frame{}
	for i := range nodes {
		boot.Changes = append(boot.Changes, recording.Change{Table: 2, Key: node(i), Row: []string{node(i), "yes"}})
		rec.Events = append(rec.Events, record.Event{Kind: "node", Node: node(i), Text: "node " + node(i) + ": up"})
	}
	boot.Changes = append([]recording.Change{{Table: 0, Key: "p", Row: []string{"p", "default/net", "10.0.0.0/24", ""}}}, boot.Changes...)
	rec.Recording.Frames = append(rec.Recording.Frames, boot)
	for i := range rec.Addresses {
		rec.Addresses[i] = record.Held{Network: "default/net", Addr: fmt.Sprintf("10.0.0.%d", i+1)}
	}
	for s := 1; s <= n; s++ {
		at, i := time.Duration(s)*time.Millisecond, s*7919%addresses
		pod, key := fmt.Sprintf("default/web-%d", s/5%400), fmt.Sprint(i)
		rec.Steps = append(rec.Steps, record.Step{Step: s, At: at, Actor: "cni-add/" + pod + "/net1", Kind: []string{"read", "write", "event"}[s%3],
			Outcome: "proceed", Key: fmt.Sprintf("PATCH pools/p-%d", s), Note: "200 rv=" + fmt.Sprint(s), Text: fmt.Sprintf("writes %s for %s", rec.Addresses[i].Addr, pod), Fault: s%997 == 0, Of: s % 4})
		h := &rec.Addresses[i]
		if k := len(h.Spans); k > 1 && h.Spans[k-1].To == 0 {
			h.Spans[k-1].To, h.Spans[k-2].To = s, s
			rec.Recording.Frames = append(rec.Recording.Frames, recording.Frame{Step: s, At: at, Changes: []recording.Change{{Table: 1, Key: key}}})
			continue
		}
		h.Spans = append(h.Spans, record.Span{Kind: record.Claimed, From: s, Pod: pod}, record.Span{Kind: record.Live, From: s, Pod: pod, Node: node(s)})
		rec.Events = append(rec.Events, record.Event{Step: s, At: at, Kind: "add-end", Node: node(s), Pod: pod, Text: h.Addr + " is handed out to " + pod})
		rec.Recording.Frames = append(rec.Recording.Frames, recording.Frame{Step: s, At: at, Changes: []recording.Change{{Table: 1, Key: key, Row: []string{h.Addr, pod}},
			{Table: 3, Key: node(s) + " " + h.Addr, Row: []string{node(s), h.Addr, h.Addr + " dev cali" + key + " scope link"}}}})
	}
	return rec
}
