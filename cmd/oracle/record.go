package main

import (
	"context"
	"fmt"

	"ipamsim/cmd/oracle/replay"
	"ipamsim/scenarios"
	"ipamsim/sim/kube"
)

// record runs a scenario as it says itself.
func record(ctx context.Context, r *scenarios.Runner, s *scenarios.Scenario) (*replay.Recording, error) {
	out := &replay.Recording{Scenario: s.Name()}
	o := scenarios.Options{Store: scenarios.Memory, Recorded: s.Doc.Spec.Schedule != nil}
	var bad error
	var server *kube.Server
	o.Served = func(api *kube.Server) {
		server = api
		served, err := api.Served()
		if err != nil {
			bad = err
		}
		out.CRDs = served.Custom
		api.Tap(func(m *kube.Message) {
			if err := out.Add(message(m)); err != nil {
				bad = err
			}
		})
	}
	if _, err := r.Run(ctx, s, o); err != nil {
		return nil, err
	}
	if bad != nil {
		return nil, fmt.Errorf("%s: %w", s.Name(), bad)
	}
	out.Controlled = server.Controlled()
	return out, nil
}

// message is one that was tapped. Its answer is complete, the events of a watch are not.
func message(m *kube.Message) replay.Message {
	out := replay.Message{
		Method: m.Method, URI: m.URI, ContentType: m.ContentType, Accept: m.Accept, Body: m.Body, Status: m.Status, Answer: m.Answer,
		Stale: m.Stale, Found: m.Found, JSON: kube.JSON,
	}
	if m.Events != nil {
		out.Events = m.Events
	}
	return out
}
