package space

import (
	"encoding/binary"
	"math"
	"math/rand/v2"
	"time"
)

// Choices is the stream of random choices from which a world is drawn: unlimited from a seed, or the
// bytes of a fuzzer's input, after which every choice is 0, the plainest.
//
// It is a rand.Source64 of math/rand, so that gofuzz fills structures from the same stream.
type Choices struct {
	rng  *rand.PCG
	seed uint64 // of rng
	data []byte
}

// FromSeed returns the stream of a seed.
func FromSeed(seed uint64) *Choices {
	return &Choices{rng: rand.NewPCG(seed, 0x5bd1e9955bd1e995), seed: seed}
}

// The other streams of a seed, for fork.
const (
	ofClasses  = 0xc2b2ae3d27d4eb4f // the classes of actions that a world leaves out
	ofFamilies = 0x9e3779b97f4a7c15 // address families
	ofAnswers  = 0xd6e8feb86659fd93 // replies to requests that fail
	ofSpace    = 0xa0761d6478bd642f // a full etcd database
	ofPlugins  = 0xe7037ed1a0b428db // the plugins of the pods' networks
	ofEarlier  = 0x8ebc6af09c88c6e3 // objects that earlier releases of the manager have written
)

// fork returns another stream of the same seed. Draws from it do not affect this stream. For a fuzzer's
// input all its choices are 0.
func (c *Choices) fork(stream uint64) *Choices {
	if c.rng == nil {
		return &Choices{}
	}
	return &Choices{rng: rand.NewPCG(c.seed, stream), seed: c.seed}
}

// FromBytes returns the stream of a fuzzer's input: two bytes for each choice.
func FromBytes(data []byte) *Choices { return &Choices{data: data} }

// Int draws 0 ≤ i < n, for n up to 65,536.
func (c *Choices) Int(n int) int {
	if c.rng != nil {
		return int((c.rng.Uint64() >> 11) % uint64(n))
	}
	if len(c.data) < 2 {
		c.data = nil
		return 0
	}
	i := int(binary.LittleEndian.Uint16(c.data)) % n
	c.data = c.data[2:]
	return i
}

// Chance returns true in num of den draws; the plainest choice is false.
func (c *Choices) Chance(num, den int) bool { return c.Int(den) >= den-num }

// Between draws from ≤ i ≤ to.
func (c *Choices) Between(from, to int) int { return from + c.Int(to-from+1) }

// Duration draws between from and to, with the same probability for each order of magnitude, rounded to
// milliseconds.
func (c *Choices) Duration(from, to time.Duration) time.Duration {
	f := float64(c.Int(1<<16)) / (1<<16 - 1)
	d := time.Duration(float64(from) * math.Pow(float64(to)/float64(from), f))
	return d.Round(time.Millisecond)
}

// Pick draws one of the values; the first one is the plainest.
func Pick[T any](c *Choices, values ...T) T { return values[c.Int(len(values))] }

// Uint64, Int63 and Seed implement a source for gofuzz.
func (c *Choices) Uint64() uint64 {
	if c.rng != nil {
		return c.rng.Uint64()
	}
	var b [8]byte
	c.data = c.data[copy(b[:], c.data):]
	return binary.LittleEndian.Uint64(b[:])
}

// Int63 returns Uint64 without its top bit.
func (c *Choices) Int63() int64 { return int64(c.Uint64() >> 1) }

// Seed does nothing: the stream cannot be reset.
func (c *Choices) Seed(int64) {}
