package prose

import (
	"testing"

	"ipamsim/model"
	"ipamsim/model/act"
)

// What a process does with files, a daemon of its node and a cloud, and what came of it.
func TestFileServiceCloud(t *testing.T) {
	on := model.Ref{Kind: model.RefNode, Name: "node-a"}
	file := func(v act.Verb, o act.Outcome, err string, parts ...act.Thing) act.Act {
		return act.Act{Verb: v, Outcome: o, Error: err, Thing: act.Thing{Kind: act.File, Name: "/x", Owner: on, Size: 2, Parts: parts}}
	}
	address := []act.Thing{{Kind: act.Address, Name: "10.0.0.4"}}
	for _, c := range []struct {
		a    act.Act
		want string
	}{
		{file(act.Create, act.Done, ""), "creates file /x"},
		{file(act.Create, act.Exists, ""), "creates file /x: it already exists"},
		{file(act.Update, act.Done, "", act.Thing{Kind: act.Text, Name: "c\n"}), `writes file /x: "c\n"`},
		{file(act.Update, act.Failed, "no space left on device"), "writes file /x: no space left on device"},
		{file(act.Read, act.Done, ""), "reads file /x: 2 bytes"},
		{file(act.Read, act.Absent, ""), "finds no file /x"},
		{file(act.Stat, act.Failed, "input/output error"), "checks for file /x: input/output error"},
		{file(act.Rename, act.Done, "", act.Thing{Kind: act.File, Name: "/y"}), "renames file /x to /y"},
		{file(act.Lock, act.Conflict, ""), "waits for the lock of file /x"},
		{file(act.Unlock, act.Done, ""), "unlocks file /x"},
		{act.Act{Verb: act.List, Thing: act.Thing{Kind: act.Directory, Name: "/d", Size: 1}}, "reads directory /d: 1 name"},
		{act.Act{Verb: act.Call, Thing: act.Thing{Kind: act.Service, Name: "/ipam.V1/Add", State: "/run/x.sock"}}, "asks /run/x.sock for /ipam.V1/Add"},
		{act.Act{Verb: act.Hear, Outcome: act.Failed, Error: "refused", Thing: act.Thing{Kind: act.Service, Name: "/ipam.V1/Add", State: "/run/x.sock"}}, "receives the reply of /run/x.sock for /ipam.V1/Add: refused"},
		{act.Act{Verb: act.Call, Gives: address, Thing: act.Thing{Kind: act.Cloud, Name: "assign", State: "ec2"}}, "calls ec2 assign, which assigns 10.0.0.4"},
		{act.Act{Verb: act.Call, Outcome: act.Failed, Error: "LimitExceeded: too many", Thing: act.Thing{Kind: act.Cloud, Name: "assign", State: "ec2"}}, "calls ec2 assign: LimitExceeded: too many"},
	} {
		if got := Act(&c.a); got != c.want {
			t.Errorf("%q, want %q", got, c.want)
		}
	}
}
