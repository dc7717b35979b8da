package imported

import (
	"errors"
	"fmt"
	"strings"

	"ipamsim/model"
)

// Since is how a result differs from an earlier one.
type Since struct {
	// New counts the findings that the earlier result has not, Known the others.
	New   int `json:"new"`
	Known int `json:"known"`
	// Gone are the findings of the earlier result that this one has not.
	Gone []Gone `json:"gone"`
}

// Gone is a finding that is no longer found.
type Gone struct {
	model.Identity
	Severity model.Severity `json:"severity"`
	// Unjudged: this time it could not have been seen, for lack of objects.
	Unjudged bool `json:"unjudged"`
}

// Compare says what is new in r. Two findings are one if their invariant, code and
// objects are the same. It returns an error for results that cannot be compared; r is
// then as it was.
func (r *Result) Compare(before *Result) error {
	if r.Anonymised || before.Anonymised {
		return errors.New("the names of an anonymised result are not the same the next time: compare results with the names of the cluster")
	}
	then := make(map[string]bool, len(before.Findings))
	for i := range before.Findings {
		then[before.Findings[i].Identity.String()] = true
	}
	s := &Since{Gone: []Gone{}}
	now := make(map[string]bool, len(r.Findings))
	for i := range r.Findings {
		f := &r.Findings[i]
		key := f.Identity.String()
		now[key] = true
		if f.New = !then[key]; f.New {
			s.New++
		} else {
			s.Known++
		}
	}
	for i := range before.Findings {
		if f := &before.Findings[i]; !now[f.Identity.String()] {
			s.Gone = append(s.Gone, Gone{f.Identity, f.Severity, r.unjudged(f.Invariant)})
		}
	}
	r.Since = s
	return nil
}

// News reports of a finding whether it is new.
func (r *Result) News() func(model.Identity) bool {
	isNew := map[string]bool{}
	for i := range r.Findings {
		if f := &r.Findings[i]; f.New {
			isNew[f.Identity.String()] = true
		}
	}
	return func(id model.Identity) bool { return isNew[id.String()] }
}

// Text is what is new for people, in one line without its end.
func (s *Since) Text() string {
	parts := []string{"nothing"}
	if s.New > 0 {
		parts[0] = fmt.Sprint(s.New)
	}
	if s.Known > 0 {
		parts = append(parts, fmt.Sprintf("%d as before", s.Known))
	}
	unseen := 0
	for _, g := range s.Gone {
		if g.Unjudged {
			unseen++
		}
	}
	if n := len(s.Gone) - unseen; n > 0 {
		parts = append(parts, fmt.Sprintf("%d no longer found", n))
	}
	if unseen > 0 {
		parts = append(parts, fmt.Sprintf("%d that cannot be judged this time", unseen))
	}
	return strings.Join(parts, ", ")
}
