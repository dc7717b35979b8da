package linear_test

import (
	"fmt"
	"net/netip"
	"strings"
	"testing"
	"time"

	"ipamsim/fuzz/linear"
	"ipamsim/model"
)

// Each history is a line of events, a second apart unless "&" joins them: + and - begin an ADD and a
// DEL of a sandbox, +ok and -ok end it, +no and -no end it with an error, ! is the end of the
// sandbox's processes. A sandbox is a letter, with the number of its interface if it has
// several. All ask for the same address.
var histories = []struct {
	why, events string
	want        linear.Verdict
}{
	{"one after the other", "a+ a+ok a! a- a-ok b+ b+ok", linear.Linearizable},
	{"two have it", "a+ a+ok b+ b+ok", linear.NotLinearizable},
	{"the ADD was answered after the DEL began", "a+ a+ok b+ a! a- b+ok a-ok", linear.Linearizable},
	{"given away while its DEL fails: a reconciler did what DEL could not", "a+ a+ok a! a- a-no b+ b+ok", linear.Linearizable},
	{"its node lost power and nobody ran a DEL", "a+ a+ok a! b+ b+ok", linear.Linearizable},
	{"DEL did not free it for two", "a+ a+ok a! a- a-ok b+ b+ok c+ c+ok", linear.NotLinearizable},
	{"an ADD that failed has nothing", "a+ a+no b+ b+ok", linear.Linearizable},
	{"nor has one that was killed", "a+ b+ b+ok", linear.Linearizable},
	{"the runtime repeats an ADD", "a+ a+ok a+ a+ok a! b+ b+ok", linear.Linearizable},
	{"both interfaces of a pod have it", "a1+ a1+ok a2+ a2+ok", linear.NotLinearizable},
	{"the DEL of one interface stands for the death of all", "a1+ a1+ok a2- a2-ok b+ b+ok", linear.Linearizable},
	{"dead before its ADD returned, so anybody may have it", "a+ a! a+ok b+ b+ok", linear.Linearizable},
	{"given to the dead while another lives on it", "a+ a+ok b+ b! b+ok", linear.NotLinearizable},
	{"the DEL of a sandbox frees nothing of another's", "a+ a+ok a! b+ b+ok a- a-ok c+ c+ok", linear.NotLinearizable},
	{"at one instant there is no order", "a+ a+ok b+ a!&b+ok", linear.Linearizable},
	{"an instant later there is", "a+ a+ok b+ b+ok a!", linear.NotLinearizable},
}

func TestHistories(t *testing.T) {
	for _, c := range histories {
		r := linear.Check(history(t, c.events), nil, linear.Patience)
		if r.Verdict != c.want {
			t.Errorf("%s: %s: %s, want %s", c.why, c.events, r.Verdict, c.want)
		}
		if named := len(r.Wires) == 1; named != (c.want == linear.NotLinearizable) || r.Checked > 1 {
			t.Errorf("%s: wires %v of %d", c.why, r.Wires, r.Checked)
		}
	}
}

func history(t *testing.T, events string) *model.History {
	kinds := map[string]model.EventKind{
		"+": model.AddBegin, "+ok": model.AddEnd, "+no": model.AddEnd,
		"-": model.DelBegin, "-ok": model.DelEnd, "-no": model.DelEnd, "!": model.SandboxDown,
	}
	h := &model.History{}
	for i, moment := range strings.Fields(events) {
		for word := range strings.SplitSeq(moment, "&") {
			at := strings.IndexAny(word, "+-!")
			e := model.Event{
				At: time.Duration(i) * time.Second, Kind: kinds[word[at:]], Pod: model.PodRef{Namespace: "default", Name: word[:1]},
				Container: word[:1], Network: "default/net1", Interface: fmt.Sprint("net", word[1:at]),
			}
			switch {
			case e.Kind == "":
				t.Fatalf("%s: what is %s?", events, word)
			case strings.HasSuffix(word, "no"):
				e.Err = "context deadline exceeded"
			case e.Kind == model.AddEnd:
				e.Addrs = []netip.Addr{netip.MustParseAddr("10.0.0.1")}
			}
			h.Add(e)
		}
	}
	return h
}
