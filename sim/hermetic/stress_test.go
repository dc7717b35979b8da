package hermetic_test

import (
	"bytes"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"testing"

	"ipamsim/sim/longtest"
)

var programs = flag.Int("programs", 60, "how many generated programs TestPrograms runs; above 100 under load")

// TestProgramsChild is what TestPrograms runs in other processes.
func TestProgramsChild(t *testing.T) {
	n, err := strconv.ParseUint(os.Getenv(asChild), 10, 64)
	if err != nil {
		t.Skip("only as a child of TestPrograms")
	}
	litter := rand.New(rand.NewPCG(rand.Uint64(), 0))
	for number := range n {
		digest, foreign := play(t, number, litter)
		fmt.Printf("DIGEST %d %s %d\n", number, digest, foreign)
	}
}

// Each generated program gives one order in eight processes, whatever else the machine does and
// whatever its addresses.
func TestPrograms(t *testing.T) {
	needHermetic(t)
	if !longtest.On() {
		*programs = min(*programs, 12)
	}
	if *programs > 100 {
		load(t, 2*runtime.NumCPU())
	}
	var all sync.WaitGroup
	var out [8]string
	for i := range out {
		cmd := exec.Command(os.Args[0], "-test.run=^TestProgramsChild$", "-test.timeout=0")
		cmd.Env = append(os.Environ(), fmt.Sprintf("%s=%d", asChild, *programs),
			fmt.Sprintf("GOMAXPROCS=%d", 1+i%4), fmt.Sprintf("GOGC=%d", 10+50*(i/2)))
		all.Go(func() {
			var errs bytes.Buffer
			cmd.Stderr = &errs
			b, err := cmd.Output()
			if err != nil {
				t.Errorf("process %d: %v\n%s%s", i, err, b, &errs)
			}
			out[i] = digests(string(b))
		})
	}
	all.Wait()
	orders := map[string]bool{}
	differ, stirred := 0, 0
	for number := range *programs {
		seen := map[string]bool{}
		for i := range out {
			line, rest, _ := strings.Cut(out[i], "\n")
			out[i] = rest
			seen[line] = true
			if f := strings.Fields(line); len(f) == 4 {
				orders[f[2]] = true
				if f[3] != "0" {
					stirred++
				}
			}
		}
		if len(seen) != 1 || seen[""] {
			if differ++; differ <= 10 {
				t.Errorf("program %d: %d orders in %d processes", number, len(seen), len(out))
			}
		}
	}
	t.Logf("%d programs × %d processes: %d differ, %d different orders, %d runs woken from outside", *programs, len(out), differ, len(orders), stirred)
	if len(orders) < *programs*9/10 || stirred > 0 {
		t.Errorf("%d different orders in %d programs, %d runs woken from outside", len(orders), *programs, stirred)
	}
}
