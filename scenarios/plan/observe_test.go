package plan_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"ipamsim/scenarios/calibrate/observe"
	"ipamsim/scenarios/strict"
)

func read(t *testing.T, files ...string) *observe.History {
	t.Helper()
	c := observe.NewCollector(nil)
	for i, text := range files {
		if err := c.Read(fmt.Sprintf("file-%d", i+1), strings.NewReader(text), time.Time{}, nil); err != nil {
			t.Fatal(err)
		}
	}
	return c.History()
}

// printed renders a history on a few lines, times as minutes after 10:00.
func printed(h *observe.History) string {
	var b strings.Builder
	m := func(t time.Time) string {
		if t.IsZero() {
			return "?"
		}
		return fmt.Sprint(t.Sub(time.Date(2026, 11, 16, 10, 0, 0, 0, time.UTC)).Minutes())
	}
	for _, p := range h.Pods {
		fmt.Fprintf(&b, "%s %s born %s known %s last %s", p.Name, p.Owner.Kind, m(p.Born), m(p.Entered), m(p.Last))
		if p.Ended {
			fmt.Fprintf(&b, " gone %s", m(p.Gone))
		}
		b.WriteByte('\n')
	}
	spans := func(what string, all []observe.Span) {
		for _, s := range all {
			fmt.Fprintf(&b, " %s %s-%s began %t over %t", what, m(s.From), m(s.To), s.Began, s.Over)
		}
	}
	for _, n := range h.Nodes {
		fmt.Fprintf(&b, "%s born %s from %s to %s ended %t", n.Name, m(n.Born), m(n.First), m(n.Last), n.Ended)
		spans("cordon", n.Cordons)
		spans("silence", n.Silences)
		b.WriteByte('\n')
	}
	return b.String()
}

func check(t *testing.T, h *observe.History, want string) {
	t.Helper()
	if d := cmp.Diff(strings.TrimLeft(want, "\n"), printed(h)); d != "" {
		t.Error(d)
	}
}

const owner = `ownerReferences: [{apiVersion: apps/v1, kind: %s, name: %s, uid: u, controller: true}]`

func podYAML(name, uid, born, kind, phase, more string) string {
	return fmt.Sprintf(`- apiVersion: v1
  kind: Pod
  metadata:
    name: %s
    namespace: shop
    uid: %s
    creationTimestamp: "2026-11-16T%sZ"
    `+owner+`
  spec: {nodeName: n1}
  status: {phase: %s%s}
`, name, uid, born, kind, kind, phase, more)
}

func nodeYAML(name, beat string, cordoned bool) string {
	return fmt.Sprintf(`- apiVersion: v1
  kind: Node
  metadata: {name: %s, creationTimestamp: "2026-11-16T09:00:00Z"}
  spec: {unschedulable: %t}
  status:
    allocatable: {pods: "110"}
    conditions: [{type: Ready, status: "True", lastHeartbeatTime: "2026-11-16T%sZ", lastTransitionTime: "2026-11-16T09:01:00Z"}]
`, name, cordoned, beat)
}

const list = "apiVersion: v1\nitems:\n%skind: List\nmetadata: {resourceVersion: \"\"}\n"

// What went between two listings went between them; what is there still is; a pod that
// has completed ended when it says so.
func TestListings(t *testing.T) {
	first := fmt.Sprintf(list, podYAML("web-1", "a", "09:30:00", "ReplicaSet", "Running", "")+podYAML("web-2", "b", "09:50:00", "ReplicaSet", "Running", "")+
		podYAML("job-1", "c", "09:58:00", "Job", "Running", "")+nodeYAML("n1", "10:00:00", false))
	second := fmt.Sprintf(list, podYAML("web-2", "b", "09:50:00", "ReplicaSet", "Running", "")+podYAML("web-1", "d", "10:20:00", "ReplicaSet", "Running", "")+
		podYAML("job-1", "c", "09:58:00", "Job", "Succeeded", `, containerStatuses: [{restartCount: 3, name: x, state: {terminated: {exitCode: 0, finishedAt: "2026-11-16T10:07:00Z"}}}]`)+nodeYAML("n1", "10:30:00", true))
	h := read(t, first, second)
	check(t, h, `
web-1 ReplicaSet born -30 known 0 last 0 gone 30
web-2 ReplicaSet born -10 known 0 last 30
job-1 Job born -2 known 0 last 7 gone 7
web-1 ReplicaSet born 20 known 30 last 30
n1 born -60 from 0 to 30 ended false cordon 15-30 began true over false
`)
	if h.MaxPods != 110 || h.Restarts != 3 || len(h.Scans) != 2 || observe.Gap(h.Scans) != 30*time.Minute {
		t.Errorf("%+v", h)
	}
	b := h.Before(time.Date(2026, 11, 16, 10, 5, 0, 0, time.UTC))
	check(t, b, `
web-1 ReplicaSet born -30 known 0 last 0
web-2 ReplicaSet born -10 known 0 last 5
job-1 Job born -2 known 0 last 5
n1 born -60 from 0 to 5 ended false
`)
}

// samples of a series, one a minute from 10:00 on: "-" is none.
func series(labels, values string) string {
	var s []string
	for i, v := range strings.Fields(values) {
		if v != "-" {
			s = append(s, fmt.Sprintf(`[%d,"%s"]`, time.Date(2026, 11, 16, 10, i, 0, 0, time.UTC).Unix(), v))
		}
	}
	return fmt.Sprintf(`{"metric":{%s},"values":[%s]}`, labels, strings.Join(s, ","))
}

func answerOf(all ...string) string {
	return `{"status":"success","data":{"resultType":"matrix","result":[` + strings.Join(all, ",") + `]}}` + "\n"
}

func unixAt(hour, minute int) string {
	return fmt.Sprint(time.Date(2026, 11, 16, hour, minute, 0, 0, time.UTC).Unix())
}

// Prometheus' scrapes are looks, a minute apart; a StatefulSet's pod of the same name is
// another one; what completes within the step counts from its birth.
func TestPrometheus(t *testing.T) {
	pod := func(name, uid string) string {
		return fmt.Sprintf(`"namespace":"shop","pod":"%s","uid":"%s"`, name, uid)
	}
	h := read(t, answerOf(
		series(`"__name__":"kube_pod_created",`+pod("db-0", "a"), strings.Repeat(unixAt(9, 0)+" ", 3)),
		series(`"__name__":"kube_pod_created",`+pod("db-0", "b"), "- - - "+strings.Repeat(unixAt(10, 2)+" ", 7)),
		series(`"__name__":"kube_pod_info",`+pod("db-0", "b")+`,"created_by_kind":"StatefulSet","created_by_name":"db","host_network":"false"`, "- - - 1 1 1 1 1 1 1"),
		series(`"__name__":"kube_pod_created",`+pod("cron-1", "c"), "- - - - - "+strings.Repeat(unixAt(10, 4)+" ", 5)),
		series(`"__name__":"kube_pod_owner","owner_kind":"Job","owner_name":"cron","owner_is_controller":"true",`+pod("cron-1", "c"), "- - - - - 1 1 1 1 1"),
		series(`"__name__":"kube_pod_completion_time",`+pod("cron-1", "c"), "- - - - - "+strings.Repeat(fmt.Sprint(time.Date(2026, 11, 16, 10, 4, 30, 0, time.UTC).Unix())+" ", 5)),
		series(`"__name__":"kube_pod_status_phase","phase":"Failed",`+pod("cron-2", "d"), "- - - - - 0 0 1 1 1"),
		series(`"__name__":"kube_pod_status_phase","phase":"Running",`+pod("cron-2", "d"), "- - - - - 1 1 0 0 0"),
		series(`"__name__":"kube_pod_created",`+pod("cron-2", "d"), "- - - - - "+strings.Repeat(unixAt(10, 4)+" ", 5)),
		series(`"__name__":"kube_pod_info","host_network":"true",`+pod("proxy", "e"), "1 1 1"),
		series(`"__name__":"up","job":"x"`, "1 1 1"),
	)+answerOf(
		series(`"__name__":"kube_node_created","node":"n1"`, strings.Repeat(unixAt(9, 0)+" ", 10)),
		series(`"__name__":"kube_node_created","node":"n2"`, strings.Repeat(unixAt(9, 0)+" ", 4)),
		series(`"__name__":"kube_node_spec_unschedulable","node":"n1"`, "0 0 0 1 1 1 1 0 0 0"),
		series(`"__name__":"kube_node_status_condition","condition":"Ready","status":"true","node":"n1"`, "1 1 1 1 1 1 1 1 1 0"),
		series(`"__name__":"kube_node_status_condition","condition":"Ready","status":"unknown","node":"n1"`, "0 0 0 0 0 0 0 0 0 1"),
	))
	check(t, h, `
db-0  born -60 known 0 last 2 gone 3
db-0 StatefulSet born 2 known 3 last 9
cron-1 Job born 4 known 4 last 4.5 gone 4.5
cron-2  born 4 known 5 last 6 gone 7
n1 born -60 from 0 to 9 ended false cordon 2.5-6.5 began true over true silence 8.5-9 began true over false
n2 born -60 from 0 to 3 ended true
`)
	notes := fmt.Sprint(h.Notes)
	if notes != "[{0 1 } {1 2 } {3 1 } {11 4 }]" {
		t.Errorf("notes %s", notes)
	}
}

func line(at, verb, resource, sub, name, more string) string {
	if sub != "" {
		sub = `,"subresource":"` + sub + `"`
	}
	if name != "" {
		name = `,"name":"` + name + `"`
	}
	return fmt.Sprintf(`{"kind":"Event","apiVersion":"audit.k8s.io/v1","level":"Request","auditID":"x","stage":"ResponseComplete","requestURI":"/","verb":"%s","user":{"username":"system:node:n9"},"objectRef":{"resource":"%s","namespace":"shop","apiVersion":"v1"%s%s},"responseStatus":{"metadata":{},"code":200},"requestReceivedTimestamp":"2026-11-16T%s.000000Z","stageTimestamp":"2026-11-16T%s.100000Z"%s}`+"\n",
		verb, resource, sub, name, at, at, more)
}

// A log shows each pod: a pod without a name from its binding on, its end by the kubelet's deletion;
// files in any order.
func TestObserveAudit(t *testing.T) {
	early := line("10:00:00", "list", "pods", "", "", "") +
		line("10:01:00", "create", "pods", "", "", "") + // generateName
		line("10:01:01", "create", "pods", "binding", "web-x", "") +
		line("10:02:00", "create", "pods", "", "db-0", `,"requestObject":{"kind":"Pod","apiVersion":"v1","metadata":{"name":"db-0",`+`"ownerReferences":[{"kind":"StatefulSet","name":"db","apiVersion":"apps/v1","uid":"u","controller":true}]},"spec":{}}`) +
		line("10:03:00", "delete", "pods", "", "old", "") +
		strings.Replace(line("10:04:00", "create", "pods", "", "refused", ""), `"code":200`, `"code":403`, 1)
	late := line("10:10:00", "delete", "pods", "", "db-0", "") +
		line("10:10:30", "delete", "pods", "", "db-0", "") +
		line("10:10:31", "create", "pods", "", "db-0", "") +
		line("10:11:00", "patch", "nodes", "", "n1", `,"requestObject":{"spec":{"unschedulable":true}}`) +
		line("10:12:00", "create", "pods", "eviction", "web-x", "") +
		line("10:13:00", "patch", "pods", "status", "web-x", `,"requestObject":{"status":{"phase":"Failed"}}`) +
		line("10:14:00", "delete", "pods", "", "web-x", "") +
		line("10:15:00", "create", "nodes", "", "", "") +
		line("10:16:00", "patch", "nodes", "", "n1", `,"requestObject":{"spec":{"unschedulable":null}}`) +
		line("10:20:00", "delete", "nodes", "", "n1", "")
	h := read(t, late, early)
	check(t, h, `
old  born ? known ? last 3 gone 3
web-x  born 1.0166666666666666 known 1.0166666666666666 last 13 gone 13
db-0 StatefulSet born 2 known 2 last 10.5 gone 10.5
db-0  born 10.516666666666667 known 10.516666666666667 last 20
n1 born ? from 11 to 20 ended true cordon 11-16 began true over true
n9 born 15 from 15 to 20 ended false
`)
}

// Events show nodes, and pods that are bound.
func TestObserveEvents(t *testing.T) {
	event := func(at, kind, name, reason string) string {
		return fmt.Sprintf(`{"apiVersion":"v1","kind":"Event","metadata":{"name":"x","namespace":"default"},"involvedObject":{"kind":"%s","namespace":"shop","name":"%s"},"reason":"%s","firstTimestamp":"2026-11-16T%sZ","lastTimestamp":"2026-11-16T%sZ","type":"Normal"}`, kind, name, reason, at, at)
	}
	h := read(t, `{"apiVersion":"v1","kind":"List","items":[`+strings.Join([]string{
		event("10:00:00", "Node", "n1", "NodeNotSchedulable"), event("10:05:00", "Node", "n1", "NodeSchedulable"),
		event("10:06:00", "Node", "n1", "NodeNotReady"), event("10:08:00", "Node", "n1", "NodeReady"),
		event("10:07:00", "Pod", "web-1", "Scheduled"), event("10:09:00", "Pod", "web-1", "Killing"),
	}, ",")+`]}`)
	check(t, h, `
web-1  born 7 known ? last ?
n1 born ? from 0 to 9 ended false cordon 0-5 began true over true silence 6-8 began true over true
`)
	if h.Windows[observe.PodStarts].Length() != 9*time.Minute || h.Windows[observe.PodEnds].Length() != 0 {
		t.Errorf("windows %v", h.Windows)
	}
}

// What cannot be read is said on one line, with the file and where.
func TestObserveHostile(t *testing.T) {
	for text, want := range map[string]string{
		"":               "f: empty",
		"nonsense":       "f:1: ",
		"\x00\x01":       "f:1: binary",
		"\x1f\x8b\x08":   "compressed with gzip",
		`{"kind":"List"`: "f:1: the JSON that begins here ends in the middle",
		`[1, 2]`:         "f:1: want an object",
		`{"a": 1}`:       "f:1: no apiVersion and kind: want the output of kubectl get -o yaml for pods, nodes or events, an audit log",
		"kind: ConfigMap\napiVersion: v1\nmetadata: {name: x}\n":                                                                                                                        "f: has no pods and nodes",
		"kind: Pod\napiVersion: v1\nmetadata: {name: x, namespace: ns}\n":                                                                                                               "f:1: Pod ns/x: metadata.creationTimestamp: missing",
		"kind: Pod\napiVersion: v1\nmetadata: {name: x, creationTimestamp: \"1960-01-01T00:00:00Z\"}\n":                                                                                 "f:1: Pod /x: metadata.creationTimestamp: 1960-01-01T00:00:00Z: want a time between 2000 and 2100",
		"kind: Pod\napiVersion: v1\nmetadata: {name: x, creationTimestamp: soon}\n":                                                                                                     "f:1: Pod: not in the format of Kubernetes",
		`{"status":"error","errorType":"bad_data","error":"query processing would load too many samples"}`:                                                                              "f: Prometheus refused the query: query processing would load too many samples",
		`{"status":"success","data":{"resultType":"string","result":[1,"x"]}}`:                                                                                                          `a result of type "string": want a range query's, matrix`,
		`{"status":"success","data":{"resultType":"matrix","result":[{"metric":{"__name__":"kube_pod_created","pod":"a"},"values":[[1763287200,"1"]]}]}}`:                               "f: data.result[0]: kube_pod_created without the labels namespace and pod",
		`{"status":"success","data":{"resultType":"matrix","result":[{"metric":{"__name__":"kube_pod_created","pod":"a","namespace":"b"},"values":[[1763287200,"NaN"]]}]}}`:             "f: data.result[0]: want the time of a creation",
		`{"status":"success","data":{"resultType":"matrix","result":[{"metric":{"__name__":"kube_pod_info","pod":"a","namespace":"b"},"values":[[1e300,"1"]]}]}}`:                       "f: data.result[0]: ",
		`{"status":"success","data":{"resultType":"matrix","result":[{"metric":{"__name__":"kube_pod_info","pod":"a","namespace":"b"},"values":[[1763287200,"1"],[1763287100,"1"]]}]}}`: "its samples are not in the order of time",
		`{"status":"success","data":{"resultType":"matrix","result":[{"metric":{"__name__":"kube_pod_info","pod":"a"`:                                                                   "the answer ends in the middle",
		`{"kind":"Event","apiVersion":"audit.k8s.io/v1","stage":"ResponseComplete","verb":"create"}`:                                                                                    "f:1: audit event: requestReceivedTimestamp: missing",
	} {
		err := observe.NewCollector(nil).Read("f", strings.NewReader(text), time.Time{}, nil)
		var bad *strict.Error
		if !errors.As(err, &bad) || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%.60q: %v, want %s", text, err, want)
		}
	}
}

// A listing whose given time is before a time in it is refused.
func TestListingBeforeItself(t *testing.T) {
	text := fmt.Sprintf(list, podYAML("web-1", "a", "09:30:00", "ReplicaSet", "Running", ""))
	at := time.Date(2026, 11, 16, 9, 0, 0, 0, time.UTC)
	if err := observe.NewCollector(nil).Read("f", strings.NewReader(text), at, nil); err == nil || !strings.Contains(err.Error(), "was taken at 2026-11-16T09:00:00Z as given, but contains 2026-11-16T09:30:00Z") {
		t.Error(err)
	}
}

// FuzzObserve: whatever a file holds, it is read or refused on one line.
func FuzzObserve(f *testing.F) {
	f.Add(fmt.Sprintf(list, podYAML("web-1", "a", "09:30:00", "ReplicaSet", "Running", "")+nodeYAML("n1", "10:00:00", false)))
	f.Add(answerOf(series(`"__name__":"kube_pod_created","namespace":"a","pod":"b"`, "1763287200 1763287200")))
	f.Add(line("10:01:01", "create", "pods", "binding", "web-x", ""))
	f.Fuzz(func(t *testing.T, text string) {
		c := observe.NewCollector(nil)
		if err := c.Read("f", strings.NewReader(text), time.Time{}, nil); err != nil {
			var bad *strict.Error
			if !errors.As(err, &bad) || strings.Contains(err.Error(), "\n") {
				t.Errorf("%q", err)
			}
			return
		}
		h := c.History()
		_ = h.Before(h.All().To)
	})
}
