package model_test

import (
	"encoding/json"
	"testing"

	"ipamsim/model"
)

// An object of a violation is KIND NAME in text, and is parsed from it, for scripts.
func TestRefIsText(t *testing.T) {
	refs := []model.Ref{{Kind: model.RefPod, Name: "/node-1"}, {Kind: model.RefReservation, Name: "a b"}}
	const want = `["pod /node-1","reservation a b"]`
	got, err := json.Marshal(refs)
	if err != nil || string(got) != want {
		t.Fatalf("have %s, %v; want %s", got, err, want)
	}
	var back []model.Ref
	if err := json.Unmarshal(got, &back); err != nil || len(back) != 2 || back[0] != refs[0] || back[1] != refs[1] {
		t.Errorf("read again: %v, %v", back, err)
	}
	if err := json.Unmarshal([]byte(`["pod"]`), &back); err == nil {
		t.Error("a kind without a name is read")
	}
}
