// Package replay sends what simulated runs asked their API server to upstream's own
// kube-apiserver, and compares the answers.
package replay

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"time"

	gocmp "github.com/google/go-cmp/cmp"
)

// Replay is a recorded run that is sent to a real server.
type Replay struct {
	*Recording
	to      *Server
	terms   *terms
	watches []*watching

	sent, watched, events int
	expired               int            // watches that ended with error 410 here
	skipped               map[string]int // by the name of a difference
	verbs                 map[string]int
	shared                map[string]bool // objects that both have, by identity: the real server before the run
	findings              []finding
}

// findingsMax of a run are kept: what comes after is a consequence, as a rule.
const findingsMax = 20

// Run sends what a recorded run asked to a server of the pool and compares the answers.
func Run(ctx context.Context, rec *Recording, servers *Pool) (*Replay, error) {
	to, err := servers.Server(ctx, rec.CRDs, rec.Controlled)
	if err != nil {
		return nil, err
	}
	p := &Replay{Recording: rec, to: to, terms: newTerms(), skipped: map[string]int{}, verbs: map[string]int{}, shared: map[string]bool{}}
	return p, p.run(ctx)
}

// String is a line about a replay.
func (p *Replay) String() string {
	return fmt.Sprintf("%-60s %6d requests %5d watches %6d events  %d unexplained", p.Scenario, p.sent, p.watched, p.events, len(p.findings))
}

// Findings returns the unexplained differences, as text.
func (p *Replay) Findings() (out []string) {
	for i := range p.findings {
		out = append(out, p.findings[i].String())
	}
	return out
}

// run sends everything, in order, and compares the answers.
func (p *Replay) run(ctx context.Context) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	for i, m := range p.Messages {
		if d := skipped(m, p.Controlled); d != nil {
			p.skipped[d.name]++
			continue
		}
		if err := p.one(ctx, i+1, m); err != nil {
			return fmt.Errorf("%s message %d, %s %s: %w", p.Scenario, i+1, m.Method, m.URI, err)
		}
		if len(p.findings) >= findingsMax {
			return nil
		}
	}
	if len(p.watches) > 0 {
		time.Sleep(settled)
	}
	for _, w := range p.watches {
		p.compareWatch(w)
	}
	if d := p.terms.disorder(); d != "" {
		p.found(len(p.Messages), "all", "the order of revisions: "+d)
	}
	return nil
}

func skipped(m *Message, controlled bool) *difference {
	for i := range differences {
		if d := &differences[i]; d.skips != nil && d.applies(controlled) && d.skips(m) {
			return d
		}
	}
	return nil
}

func (p *Replay) found(n int, request, what string) {
	p.findings = append(p.findings, finding{p.Scenario, n, request, what})
}

// one sends a message.
func (p *Replay) one(ctx context.Context, n int, m *Message) error {
	if m.verb == "watch" {
		p.overhear(m.URI)
	}
	uri, err := p.terms.uri(m.URI)
	if err != nil {
		return err
	}
	body := p.terms.body(m.json(m.Body))
	p.sent++
	p.verbs[m.verb]++
	if m.verb == "watch" {
		return p.watch(ctx, n, m, uri)
	}
	method, there := m.Method, m.there()
	if there {
		method, uri = http.MethodPut, uri+"/"+m.name
		p.shared[m.namespaced()] = true
	}
	resp, answer, err := p.to.Send(ctx, method, uri, asJSON(m.ContentType), asJSON(m.Accept), body)
	if err != nil {
		return err
	}
	if there && resp.StatusCode == http.StatusOK {
		resp.StatusCode = http.StatusCreated
	}
	if m.Found && m.resource == "nodes" && m.verb == "create" && p.Controlled {
		if resp, answer, err = p.untaint(ctx, m, resp, answer); err != nil {
			return err
		}
	}
	if there { // an update that changes nothing has the revision from before
		if ours, err := m.answer(); err == nil {
			p.terms.early[field(ours, "metadata", "resourceVersion")] = true
		}
	}
	p.compare(n, m, resp.StatusCode, answer)
	return nil
}

// untaint makes a node that was created one that was not tainted for that. The status is
// that of the creation.
func (p *Replay) untaint(ctx context.Context, m *Message, created *http.Response, answer []byte) (*http.Response, []byte, error) {
	if created.StatusCode != http.StatusCreated {
		return created, answer, nil
	}
	ours, err := decode(m.json(m.Answer))
	if err != nil {
		return nil, nil, err
	}
	var taints any
	if o, ok := ours.(map[string]any); ok {
		spec, _ := o["spec"].(map[string]any)
		taints = spec["taints"]
	}
	patch, err := json.Marshal(map[string]any{"spec": map[string]any{"taints": taints}})
	if err != nil {
		return nil, nil, err
	}
	_, answer, err = p.to.Send(ctx, http.MethodPatch, m.path+"/"+m.name, "application/merge-patch+json", "application/json", patch)
	return created, answer, err
}

// compare compares two answers.
func (p *Replay) compare(n int, m *Message, status int, answer []byte) {
	request := m.Method + " " + m.URI
	if status != m.Status {
		p.found(n, request, fmt.Sprintf("answered %d here and %d there:\n%s\n%s", m.Status, status, short(m.json(m.Answer)), short(answer)))
		return
	}
	ours, errA := m.answer()
	theirs, errB := decode(answer)
	if errA != nil || errB != nil {
		if strings.TrimSpace(string(m.Answer)) != strings.TrimSpace(string(answer)) {
			p.found(n, request, gocmp.Diff(string(m.Answer), string(answer)))
		}
		return
	}
	if m, ok := theirs.(map[string]any); ok {
		if items, ok := m["items"].([]any); ok { // their own have no counterpart here
			m["items"] = p.without(items)
		}
	}
	if unordered(ours) || unordered(theirs) {
		p.found(n, request, "a list is not in the order of names")
	}
	before := len(p.terms.conflicts)
	p.terms.learn(ours, theirs)
	for _, c := range p.terms.conflicts[before:] {
		p.found(n, request, c)
	}
	translated := p.terms.revisions(p.terms.tree(ours))
	if d := unlike(translated, theirs, p.Controlled); d != "" {
		p.found(n, request, d)
	}
}

func (p *Replay) without(items []any) []any {
	out := []any{}
	for _, o := range items {
		if !p.strange(o) {
			out = append(out, o)
		}
	}
	return out
}

func short(b []byte) string {
	const most = 600
	if len(b) > most {
		return string(b[:most]) + "…"
	}
	return string(b)
}
