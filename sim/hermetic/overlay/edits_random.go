package overlay

// randomEdits replace the process's entropy: inside a bubble by a stream for
// each goroutine, outside by a constant seed, since hashes of maps that were
// made outside are read inside.
var randomEdits = []edit{
	before("runtime/rand.go", "constant seed of the process",
		"\tglobalRand.state.Init(*seed)\n",
		"\tfor i := range seed {\n\t\tseed[i] = byte(i)\n\t}\n"),
	// The compiler itself calls rand, to seed maps on the stack. That must not be a draw, or
	// one-time actions of a package would shift the first run. So in a bubble rand draws nothing,
	// and callers that need a random number call simRand.
	before("runtime/rand.go", "rand without a draw",
		"\tmp := getg().m\n\tc := &mp.chacha8\n",
		"\tif gp := getg(); gp.bubble != nil {\n\t\treturn simStill(gp)\n\t}\n"),
	{
		"runtime/rand.go", "randn by goroutine",
		"\treturn uint32((uint64(uint32(rand())) * uint64(n)) >> 32)\n",
		"\treturn uint32((uint64(uint32(simRand())) * uint64(n)) >> 32)\n",
	},
	{
		"runtime/rand.go", "fastrand by goroutine",
		"func legacy_fastrand() uint32 {\n\treturn uint32(rand())\n",
		"func legacy_fastrand() uint32 {\n\treturn uint32(simRand())\n",
	},
	{
		"runtime/rand.go", "fastrand64 by goroutine",
		"func legacy_fastrand64() uint64 {\n\treturn rand()\n",
		"func legacy_fastrand64() uint64 {\n\treturn simRand()\n",
	},
	relink("math/rand/rand.go"),
	relink("math/rand/v2/rand.go"),
	relink("os/tempfile.go"),
	relink("net/dnsclient.go"),
	relink("hash/maphash/maphash_runtime.go"),
	{
		"runtime/select.go", "order of select by goroutine",
		"\t\tj := cheaprandn(uint32(norder + 1))\n",
		"\t\tj := uint32((uint64(simcheaprand()) * uint64(norder+1)) >> 32)\n",
	},
	after("crypto/internal/fips140/drbg/rand.go", "crypto/rand by goroutine: import",
		"\t\"sync/atomic\"\n",
		"\t_ \"unsafe\"\n"),
	before("crypto/internal/fips140/drbg/rand.go", "crypto/rand by goroutine: link",
		"// Read fills b with cryptographically secure random bytes. In FIPS mode, it\n",
		"//go:noescape\n//go:linkname simFill runtime.simFill\nfunc simFill(b []byte) bool\n\n"),
	after("crypto/internal/fips140/drbg/rand.go", "crypto/rand by goroutine: use",
		"func Read(b []byte) {\n",
		"\tif testingReader == nil && simFill(b) {\n\t\treturn\n\t}\n"),
}

// relink makes the runtime_rand of a package draw from the goroutine's stream.
func relink(file string) edit {
	return edit{
		file, "runtime_rand by goroutine",
		"//go:linkname runtime_rand runtime.rand\n",
		"//go:linkname runtime_rand runtime.simRand\n",
	}
}

// mapEdits fix the layout of maps and draw only where an iteration starts.
var mapEdits = []edit{
	{
		"runtime/rand.go", "constant seed of maps",
		"func maps_rand() uint64 {\n\treturn rand()\n",
		"func maps_rand() uint64 {\n\treturn simMapSeed\n",
	},
	after("internal/runtime/maps/runtime.go", "start of an iteration: link",
		"func rand() uint64\n",
		"\n//go:linkname simMapStart\nfunc simMapStart() uint64\n"),
	{
		"internal/runtime/maps/table.go", "start of an iteration",
		"\tit.entryOffset = rand()\n\tit.dirOffset = rand()\n",
		"\tit.entryOffset = simMapStart()\n\tit.dirOffset = it.entryOffset >> 32\n",
	},
	{
		"internal/sync/hashtriemap.go", "constant seed of sync.Map",
		"\tht.seed = uintptr(runtime_rand())\n",
		"\tht.seed = 0x7f4a7c15\n",
	},
}

// poolEdits give each bubble its own sync.Pool, last in, first out: the content of the real one
// depends on the processor and on the last collection. Values do not cross between bubbles, and are
// dropped with the bubble. The race detector's builds bypass it: they do not know that a bubble
// runs one goroutine at a time.
var poolEdits = []edit{
	before("sync/pool.go", "pool: a shelf for the bubble",
		"\t// New optionally specifies a function to generate\n",
		"\tsim atomic.Pointer[simShelf] // of the bubble that used the pool last\n\n"),
	before("sync/pool.go", "pool: shelves",
		"// Put adds x to the pool.\n",
		simShelves),
	after("sync/pool.go", "pool: put on the shelf",
		"func (p *Pool) Put(x any) {\n\tif x == nil {\n\t\treturn\n\t}\n",
		"\tif s, in := p.simShelf(); in {\n\t\tif s != nil {\n\t\t\ts.free = append(s.free, x)\n\t\t}\n\t\treturn\n\t}\n"),
	after("sync/pool.go", "pool: take from the shelf",
		"func (p *Pool) Get() any {\n",
		"\tif s, in := p.simShelf(); in {\n\t\tif s != nil && len(s.free) > 0 {\n\t\t\tn := len(s.free) - 1\n\t\t\tx := s.free[n]\n\t\t\ts.free[n] = nil\n\t\t\ts.free = s.free[:n]\n\t\t\treturn x\n\t\t}\n"+
			"\t\tif p.New == nil {\n\t\t\treturn nil\n\t\t}\n\t\treturn p.New()\n\t}\n"),
}

// simShelves is added to sync/pool.go.
const simShelves = `// simShelf is what one bubble has put into one pool.
type simShelf struct {
	bubble uint64
	free   []any
}

// simPools is the number of the caller's bubble and where it keeps its
// *map[*Pool]*simShelf; 0 outside.
//
//go:linkname simPools runtime.simPools
func simPools() (bubble uint64, shelves *unsafe.Pointer)

// simShelf is the shelf of the caller's bubble, nil in a build for the race
// detector, and whether there is a bubble.
func (p *Pool) simShelf() (*simShelf, bool) {
	id, at := simPools()
	if id == 0 || race.Enabled {
		return nil, id != 0
	}
	if s := p.sim.Load(); s != nil && s.bubble == id {
		return s, true
	}
	if *at == nil {
		*at = unsafe.Pointer(&map[*Pool]*simShelf{})
	}
	all := *(*map[*Pool]*simShelf)(*at)
	s := all[p]
	if s == nil {
		s = &simShelf{bubble: id}
		all[p] = s
	}
	p.sim.Store(s)
	return s, true
}

`

// machineEdits hide the size of the machine from a bubble.
var machineEdits = []edit{
	after("runtime/debug.go", "GOMAXPROCS in a bubble",
		"func GOMAXPROCS(n int) int {\n",
		"\tif n <= 0 && getg().bubble != nil {\n\t\treturn simCPUs\n\t}\n"),
	after("runtime/debug.go", "NumCPU in a bubble",
		"func NumCPU() int {\n",
		"\tif getg().bubble != nil {\n\t\treturn simCPUs\n\t}\n"),
}
