package dump

import (
	"bufio"
	"encoding/json"
	"io"
)

// Objects reads what Read reads and hands each object to whoever wants it instead of
// keeping it, in the order of the file: as JSON, with the kind of its list where it has
// none of its own. Of calicoctl's tables nothing is told.
//
// The error is that of each, or a *strict.Error.
func Objects(name string, r io.Reader, progress func(Progress), each func(from Origin, raw json.RawMessage) error) error {
	in := &input{c: New(), name: name, r: bufio.NewReaderSize(r, 256<<10), progress: progress, each: each}
	return in.all()
}
