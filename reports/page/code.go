package page

import (
	"path"
	"strconv"

	"ipamsim/model"
)

// spot is a line of the address manager's source, for a reader of the page.
type spot struct {
	At       string `json:"at,omitempty"`  // "pkg/reconciler/iploop.go:200"
	Short    string `json:"-"`             // "iploop.go:200"
	Function string `json:"function"`      // without its import path
	URL      string `json:"url,omitempty"` // where to read it; "" where that is not certain
}

// code is the line that sent a message, then the one that called it, as far as they are
// known.
func code(c *model.CallSite) []spot {
	out := []spot{}
	if c == nil {
		return out
	}
	add := func(f model.Frame) {
		line := ":" + strconv.Itoa(f.Line)
		out = append(out, spot{f.File + line, path.Base(f.File) + line, f.Name(), c.URL(f)})
	}
	if len(c.Frames) > 0 {
		add(c.Frames[0])
	}
	if caller, ok := c.Caller(); ok {
		add(caller)
	}
	if c.Informer {
		out = append(out, spot{Function: "an informer of client-go"})
	}
	return out
}

// sources are the spots of a record's sites.
func sources(sites []model.CallSite) [][]spot {
	out := make([][]spot, len(sites))
	for i := range sites {
		out[i] = code(&sites[i])
	}
	return out
}
