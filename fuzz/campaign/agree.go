package campaign

import (
	"slices"

	"ipamsim/fuzz/campaign/queue"
)

// A signature is known without shrinking, but several causes may have the same one. A signature is
// settled when two of its instances were shrunk to one cause, or all kept instances were
// shrunk. A finding that is still crowded has no cause: its races were not tried.

// place is a run of a campaign.
type place struct {
	source int
	seed   uint64
}

// tried records the result of a shard that shrinks a failure.
func (s *state) tried(r *queue.Result) {
	if r.Shard.Kind != queue.Shrink {
		return
	}
	fingerprint := ""
	for _, k := range r.Kept {
		if k.Signature == r.Shard.Signature && rank(&k) == isSmall {
			fingerprint = k.Fingerprint
		}
	}
	if s.tries[r.Shard.Signature] == nil {
		s.tries[r.Shard.Signature] = map[place]string{}
	}
	s.tries[r.Shard.Signature][place{r.Shard.Source, r.Shard.From}] = fingerprint
}

// next returns the shortest instance of a signature that is not tried yet, or the shortest.
func (s *state) next(sig string) queue.Instance {
	all := s.classes[sig].Instances
	for _, i := range all {
		if _, done := s.tries[sig][place{i.Source, i.Seed}]; !done {
			return i
		}
	}
	return all[0]
}

// doubtful returns, sorted, the signatures that have a small finding but whose other
// instances may have another cause.
func (s *state) doubtful() (out []string) {
	for sig, c := range s.classes {
		f := s.findings[s.of[sig]]
		if f == nil || f.Rough || len(c.Instances) == 0 || s.agreed(sig) { // a death has no instance
			continue
		}
		if i := s.next(sig); s.tries[sig][place{i.Source, i.Seed}] == "" && len(s.tries[sig]) < len(c.Instances) {
			out = append(out, sig)
		}
	}
	slices.Sort(out)
	return out
}

// agreed reports whether two instances came to one cause.
func (s *state) agreed(sig string) bool {
	seen := map[string]bool{}
	for _, fp := range s.tries[sig] {
		if fp != "" && seen[fp] {
			return true
		}
		seen[fp] = true
	}
	return false
}

// working reports whether a worker has a shard of the same kind for another instance of the signature.
func (c *coordinator) working(s queue.Shard) bool {
	for _, o := range c.asked {
		if o.Kind == s.Kind && o.Signature == s.Signature {
			return true
		}
	}
	return false
}
