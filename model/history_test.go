package model_test

import (
	"slices"
	"testing"
	"time"

	"ipamsim/model"
)

func TestHistoryIndex(t *testing.T) {
	h := model.History{Events: []model.Event{{Kind: model.AddBegin, Container: "a", At: 1}}} // not through Add
	h.Add(model.Event{Kind: model.ActorPanic, Container: "a", At: 2})
	h.Add(model.Event{Kind: model.AddEnd, Container: "b", At: 3, Exhausted: true})
	h.Add(model.Event{Kind: model.Operator, Container: "a", At: 4})
	h.Events = append(h.Events, model.Event{Kind: model.DelEnd, Container: "b", At: 5})
	for _, c := range []struct {
		id string
		at time.Duration
		ok bool
	}{{"a", 1, true}, {"b", 5, true}, {"c", 0, false}, {"", 0, false}} {
		if at, ok := h.LastOf(c.id); at != c.at || ok != c.ok {
			t.Errorf("LastOf(%q) = %v, %v, want %v, %v", c.id, at, ok, c.at, c.ok)
		}
	}
	if got := h.Panics(); !slices.Equal(got, []int{1}) {
		t.Errorf("Panics() = %v", got)
	}
	if got := h.Refusals(); !slices.Equal(got, []int{2}) {
		t.Errorf("Refusals() = %v", got)
	}
}
