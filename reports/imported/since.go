package imported

import (
	"errors"
	"fmt"
	"strings"

	"ipamsim/model"
)

// Since is the difference from an earlier result.
type Since struct {
	// New counts the findings that the earlier result does not have, Known the others.
	New   int `json:"new"`
	Known int `json:"known"`
	// Gone lists the findings of the earlier result that this one does not have.
	Gone []Gone `json:"gone"`
}

// Gone is a finding that is no longer found.
type Gone struct {
	model.Identity
	Severity model.Severity `json:"severity"`
	// Unjudged: it cannot be judged this time because objects are missing.
	Unjudged bool `json:"unjudged"`
}

// Compare sets r.Since and marks new findings. Two findings are the same if their invariant, code
// and objects are. On an error, which means that the results cannot be compared, r is unchanged.
func (r *Result) Compare(before *Result) error {
	if r.Anonymised || before.Anonymised {
		return errors.New("the names of an anonymised result differ between imports: compare results that are not anonymised")
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

// News reports whether a finding is new.
func (r *Result) News() func(model.Identity) bool {
	isNew := map[string]bool{}
	for i := range r.Findings {
		if f := &r.Findings[i]; f.New {
			isNew[f.Identity.String()] = true
		}
	}
	return func(id model.Identity) bool { return isNew[id.String()] }
}

// Text renders the difference on one line.
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
