package linear

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"html"
	"io"
	"slices"
	"time"

	"github.com/anishathalye/porcupine"

	"ipamsim/model"
	"ipamsim/reports/visible"
)

// Page writes porcupine's visualisation as one HTML file: a row for each sandbox that had the
// address, and how far an order of their operations goes. It shows the wires that are not
// linearizable or, if there are none, all wires.
//
// The file loads nothing and runs only porcupine's own script. Names come from the scenario and
// are not trusted: they are escaped, and the content security policy allows only that script, by
// its hash.
func (r *Result) Page(w io.Writer, title string) error {
	m, all := set, []porcupine.Operation(nil)
	var parts [][]porcupine.Operation
	rows := 0
	for _, x := range r.shown {
		ops := x.operations()
		for i := range ops {
			ops[i].ClientId += rows
		}
		rows += len(x.holds)
		parts, all = append(parts, ops), append(all, ops...)
	}
	m.Partition = func([]porcupine.Operation) [][]porcupine.Operation { return parts }
	_, info := porcupine.CheckOperationsVerbose(m, all, Patience)
	info.AddAnnotations(r.around(all))
	var page bytes.Buffer
	if err := porcupine.Visualize(m, info, &page); err != nil {
		return fmt.Errorf("linear: %w", err)
	}
	out, err := settle(page.Bytes())
	if err == nil {
		out, err = enclose(out, title)
	}
	if err == nil {
		_, err = w.Write(out)
	}
	return err
}

// enclose adds the title and the content security policy.
func enclose(page []byte, title string) ([]byte, error) {
	const head = "<title>Porcupine</title>"
	_, rest, ok := bytes.Cut(page, []byte("<script>"))
	script, _, closed := bytes.Cut(rest, []byte("</script>"))
	if !ok || !closed || bytes.Count(page, []byte(head)) != 1 {
		return nil, errChanged
	}
	hash := sha256.Sum256(script)
	policy := fmt.Sprintf("<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'; script-src 'sha256-%s'; base-uri 'none'; form-action 'none'\" />\n    <title>%s</title>",
		base64.StdEncoding.EncodeToString(hash[:]), html.EscapeString(visible.Line(title)))
	return bytes.Replace(page, []byte(head), []byte(policy), 1), nil
}

// around returns the other events of the time of the operations, as annotations.
func (r *Result) around(ops []porcupine.Operation) []porcupine.Annotation {
	if len(ops) == 0 {
		return nil
	}
	from, to := ops[0].Call, ops[0].Return
	for _, o := range ops {
		from, to = min(from, o.Call), max(to, o.Return)
	}
	var out []porcupine.Annotation
	for i := range r.history.Events {
		e := &r.history.Events[i]
		a := porcupine.Annotation{Start: int64(e.At), End: int64(e.At), Details: e.At.Round(time.Microsecond).String() + " " + e.Err}
		if a.Start < from || a.Start > to {
			continue
		}
		switch e.Kind {
		case model.NodeEvent:
			a.Tag, a.Description = "nodes", e.Node+" "+e.Text
		case model.Operator:
			a.Tag, a.Description = "operators", e.Text
		case model.FaultEvent:
			a.Tag, a.Description = "faults", e.Actor+": "+e.Text
		case model.Reconcile:
			a.Tag, a.Description = "reconcilers", e.Actor+" begins"
		case model.Reconciled:
			a.Tag, a.Description = "reconcilers", e.Actor+" ends"
		case model.Exited:
			a.Tag, a.Description = "reconcilers", e.Actor+" exits"
		default:
			continue
		}
		// Porcupine draws annotations of the same row and time on top of each other.
		same := func(o porcupine.Annotation) bool { return o.Tag == a.Tag && o.Start == a.Start }
		if n := slices.IndexFunc(out, same); n >= 0 {
			out[n].Description += "; " + a.Description
			continue
		}
		out = append(out, a)
	}
	return out
}
