package model

import (
	"encoding/json"
	"fmt"
	"strconv"
	"time"
)

// Fact is a named value that a violation has in addition to its objects. The name is in
// lower case with dashes ("since", "first-node"). In JSON the key of the value is its
// type: {"name": "since", "time": "1m12.5s"}, {"name": "counted", "count": 2}.
type Fact struct {
	Name  string
	Value any // a FactType
}

// FactType are the types of a fact's value: a virtual time since the start of the run,
// a count, a thing, upstream's code, or a text that is not ours, such as upstream's
// error or the kernel's route.
type FactType interface {
	time.Duration | int | string | Ref | CallSite
}

// NewFact is one fact.
func NewFact[T FactType](name string, value T) Fact { return Fact{name, value} }

// FactOf is the value of the first fact with a name; ok is false if there is none or its type
// differs.
func FactOf[T FactType](facts []Fact, name string) (value T, ok bool) {
	for _, f := range facts {
		if f.Name == name {
			value, ok = f.Value.(T)
			return value, ok
		}
	}
	return value, false
}

// String is the value for people: times to the millisecond, for what separates two
// messages is noise, and a thing by its name.
func (f Fact) String() string {
	switch v := f.Value.(type) {
	case time.Duration:
		return v.Round(time.Millisecond).String()
	case int:
		return strconv.Itoa(v)
	case Ref:
		return v.shown()
	case CallSite:
		return v.String()
	case string:
		return v
	}
	return ""
}

// shown is the name for people: a container id is shortened as runtimes shorten it, and the name of
// an unknown node is empty.
func (r Ref) shown() string {
	switch {
	case r.Kind == RefContainer && len(r.Name) > containerShown:
		return r.Name[:containerShown]
	case r.Kind == RefNode && r.Name == "":
		return "no node"
	}
	return r.Name
}

const containerShown = 12

// factJSON is a fact as it is written: one of the values is there.
type factJSON struct {
	Name  string    `json:"name"`
	Time  *string   `json:"time,omitempty"` // as time.ParseDuration reads it
	Count *int      `json:"count,omitempty"`
	Text  *string   `json:"text,omitempty"`
	Ref   *Ref      `json:"ref,omitempty"`
	Site  *CallSite `json:"site,omitempty"`
}

// MarshalJSON fails for a value that is no FactType.
func (f Fact) MarshalJSON() ([]byte, error) {
	j := factJSON{Name: f.Name}
	switch v := f.Value.(type) {
	case time.Duration:
		text := v.String()
		j.Time = &text
	case int:
		j.Count = &v
	case string:
		j.Text = &v
	case Ref:
		j.Ref = &v
	case CallSite:
		j.Site = &v
	default:
		return nil, fmt.Errorf("fact %q: %T is no type of a fact", f.Name, f.Value)
	}
	return json.Marshal(j)
}

// UnmarshalJSON is the inverse of MarshalJSON. It fails for a fact without a value, or
// with several.
func (f *Fact) UnmarshalJSON(text []byte) error {
	var j factJSON
	if err := json.Unmarshal(text, &j); err != nil {
		return err
	}
	*f = Fact{Name: j.Name}
	n := 0
	set := func(there bool, value func() any) {
		if there {
			n++
			f.Value = value()
		}
	}
	var err error
	set(j.Time != nil, func() any { var d time.Duration; d, err = time.ParseDuration(*j.Time); return d })
	set(j.Count != nil, func() any { return *j.Count })
	set(j.Text != nil, func() any { return *j.Text })
	set(j.Ref != nil, func() any { return *j.Ref })
	set(j.Site != nil, func() any { return *j.Site })
	if err == nil && n != 1 {
		err = fmt.Errorf("want one value, have %d", n)
	}
	if err != nil {
		return fmt.Errorf("fact %q: %w", j.Name, err)
	}
	return nil
}
