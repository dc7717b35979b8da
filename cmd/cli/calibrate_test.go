package cli

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// writeData writes what testdata/script/calibrate.txtar reads: a listing and an audit log
// of two weeks, in which web pods live five hours and jobs half an hour, and nodes are
// drained every two days.
func writeData(dir string) error {
	r := rand.New(rand.NewPCG(1, 2))
	begin := time.Date(2026, 11, 2, 0, 0, 0, 0, time.UTC)
	end := begin.Add(14 * 24 * time.Hour)
	var items []string
	var log []struct {
		at   time.Time
		text string
	}
	record := func(at time.Time, verb, resource, name, body string) {
		if at.Before(end) {
			stamp := at.Format("2006-01-02T15:04:05.000000Z")
			log = append(log, struct {
				at   time.Time
				text string
			}{at, fmt.Sprintf(`{"kind":"Event","apiVersion":"audit.k8s.io/v1","level":"Request","stage":"ResponseComplete","verb":%q,"objectRef":{"resource":%q,"namespace":"shop","name":%q},"responseStatus":{"code":200},"requestReceivedTimestamp":%q,"requestObject":%s}`, verb, resource, name, stamp, body)})
		}
	}
	pods := 0
	pod := func(kind string) (name, meta string) {
		pods++
		name = fmt.Sprintf("%s-%d", strings.ToLower(kind), pods)
		return name, fmt.Sprintf(`{"name":%q,"namespace":"shop","creationTimestamp":%%q,"ownerReferences":[{"apiVersion":"x/v1","kind":%q,"name":%q,"uid":"u","controller":true}]}`, name, kind, name)
	}
	for range 12 {
		at := begin
		name, meta := pod("ReplicaSet")
		items = append(items, fmt.Sprintf(`{"apiVersion":"v1","kind":"Pod","metadata":`+meta+`,"status":{"phase":"Running"}}`, begin.Format(time.RFC3339)))
		for at.Before(end) {
			at = at.Add(time.Duration(r.ExpFloat64() * 5 * float64(time.Hour)))
			record(at, "delete", "pods", name, "null")
			name, meta = pod("ReplicaSet")
			record(at, "create", "pods", name, fmt.Sprintf(`{"metadata":`+meta+`}`, at.Format(time.RFC3339)))
		}
	}
	for at := begin; at.Before(end); at = at.Add(time.Duration(r.ExpFloat64() * float64(40*time.Minute))) {
		name, meta := pod("Job")
		record(at, "create", "pods", name, fmt.Sprintf(`{"metadata":`+meta+`}`, at.Format(time.RFC3339)))
		record(at.Add(time.Duration(r.ExpFloat64()*float64(30*time.Minute))), "delete", "pods", name, "null")
	}
	for i := range 4 {
		name := fmt.Sprintf("n%d", i+1)
		items = append(items, fmt.Sprintf(`{"apiVersion":"v1","kind":"Node","metadata":{"name":%q,"creationTimestamp":"2026-10-01T00:00:00Z"},"status":{"allocatable":{"pods":"110"}}}`, name))
		for at := begin.Add(time.Duration(r.ExpFloat64() * 48 * float64(time.Hour))); at.Before(end); at = at.Add(time.Duration(r.ExpFloat64() * 48 * float64(time.Hour))) {
			record(at, "patch", "nodes", name, `{"spec":{"unschedulable":true}}`)
			at = at.Add(time.Duration((0.5 + r.Float64()) * float64(time.Hour)))
			record(at, "patch", "nodes", name, `{"spec":{"unschedulable":null}}`)
		}
	}
	record(begin, "list", "pods", "", "null")
	record(end.Add(-time.Second), "list", "pods", "", "null")
	slices.SortStableFunc(log, func(a, b struct {
		at   time.Time
		text string
	}) int {
		return a.at.Compare(b.at)
	})
	var text strings.Builder
	for _, l := range log {
		text.WriteString(l.text + "\n")
	}
	list := `{"apiVersion":"v1","kind":"List","items":[` + strings.Join(items, ",\n") + "]}\n"
	if err := os.WriteFile(filepath.Join(dir, "listing.json"), []byte(list), 0o666); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(dir, "audit.log"), []byte(text.String()), 0o666)
}
