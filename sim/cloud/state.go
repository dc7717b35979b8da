package cloud

import (
	"cmp"
	"encoding/json"
	"slices"
	"time"

	"ipamsim/model"
	"ipamsim/model/act"
)

// Kind of a resource.
type Kind string

// The kinds.
const (
	Instance  Kind = "instance"
	Interface Kind = "interface" // In is its instance
	Address   Kind = "address"   // In is its interface; ID is the address
	Prefix    Kind = "prefix"    // In is its interface; ID is the prefix
)

// Resource is a resource of a provider.
type Resource struct {
	Kind Kind
	ID   string
	In   string            // the ID of the resource that holds it
	Data map[string]string // other attributes; never changed
}

// state is every version of every resource, oldest first.
type state map[key][]version

type key struct {
	kind Kind
	id   string
}

type version struct {
	at   time.Duration
	is   Resource
	gone bool
}

// at returns a resource at a time.
func (s state) at(k key, t time.Duration) (Resource, bool) {
	for _, v := range slices.Backward(s[k]) {
		if v.at <= t {
			return v.is, !v.gone
		}
	}
	return Resource{}, false
}

// Call is one call that a Handler answers.
type Call struct {
	Input json.RawMessage

	cloud    *Cloud
	seen     time.Duration // reads see the state at this time
	exchange *Exchange
	left     int // writes before the provider fails in the middle
}

// Decode decodes the input.
func (c *Call) Decode(into any) error { return json.Unmarshal(c.Input, into) }

// Get returns a resource as this call sees it: reads may lag.
func (c *Call) Get(k Kind, id string) (Resource, bool) { return c.cloud.state.at(key{k, id}, c.seen) }

// List returns the resources of a kind that in holds, or all with in "", sorted by ID, as this
// call sees them.
func (c *Call) List(k Kind, in string) []Resource { return c.cloud.list(k, in, c.seen) }

func (c *Cloud) list(k Kind, in string, at time.Duration) (out []Resource) {
	for key := range c.state {
		if key.kind != k {
			continue
		}
		if r, ok := c.state.at(key, at); ok && (in == "" || r.In == in) {
			out = append(out, r)
		}
	}
	slices.SortFunc(out, func(a, b Resource) int { return cmp.Compare(a.ID, b.ID) })
	return out
}

// Put creates a resource or changes it. The error is ErrQuota if the holder is at its quota,
// and ErrInternal if the provider fails here; earlier changes stay.
func (c *Call) Put(r Resource) error {
	now := c.cloud.now()
	_, there := c.cloud.state.at(key{r.Kind, r.ID}, now)
	if most, limited := c.cloud.opts.Quota[r.Kind]; limited && !there && len(c.cloud.list(r.Kind, r.In, now)) >= most {
		return ErrQuota
	}
	if err := c.write(version{at: now, is: r}); err != nil {
		return err
	}
	c.exchange.Gives = append(c.exchange.Gives, r.things()...)
	return nil
}

// Delete deletes a resource. The error is ErrNotFound if it does not exist, or one of Put's.
func (c *Call) Delete(k Kind, id string) error {
	now := c.cloud.now()
	r, there := c.cloud.state.at(key{k, id}, now)
	if !there {
		return ErrNotFound
	}
	if err := c.write(version{at: now, is: r, gone: true}); err != nil {
		return err
	}
	c.exchange.Takes = append(c.exchange.Takes, r.things()...)
	return nil
}

func (c *Call) write(v version) error {
	if c.left == 0 {
		return ErrInternal
	}
	c.left--
	k := key{v.is.Kind, v.is.ID}
	c.cloud.state[k] = append(c.cloud.state[k], v)
	return nil
}

// things returns the addresses of a resource, for reports.
func (r Resource) things() []act.Thing {
	owner := model.Ref{Kind: "interface", Name: r.In}
	switch r.Kind {
	case Address:
		return []act.Thing{{Kind: act.Address, Name: r.ID, Owner: owner}}
	case Prefix:
		return []act.Thing{{Kind: act.Range, Name: r.ID, Owner: owner}}
	}
	return nil
}

// Now lists the present resources, for the simulator: it never lags.
func (c *Cloud) Now(k Kind, in string) []Resource {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.list(k, in, c.now())
}
