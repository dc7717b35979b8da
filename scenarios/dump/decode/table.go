package decode

import (
	"bytes"
	"strings"
)

func tableLine(line []byte) bool {
	return bytes.HasPrefix(line, []byte("+-")) || bytes.HasPrefix(line, []byte("| "))
}

// table reads one table, or what there is of it.
func (in *input) table() error {
	var head []string
	rules := 0
	for {
		line, err := in.next()
		if isEnd(err) {
			break
		}
		if err != nil {
			return err
		}
		if !tableLine(line) {
			in.back(line)
			break
		}
		if line[0] == '+' {
			if rules++; rules == 3 {
				break
			}
			continue
		}
		row := cells(string(line))
		if head == nil {
			head = row
			continue
		}
		if len(row) != len(head) {
			return in.fail(in.line, "%d columns, the table's first line has %d", len(row), len(head))
		}
		in.objects++
		if err := in.row(head, row); err != nil {
			return err
		}
	}
	if head != nil && rules < 3 {
		return in.fail(in.line, "a table without its last line: the file is cut off, dump it again")
	}
	in.whole++
	return in.row(head, nil)
}

func cells(line string) []string {
	row := strings.Split(strings.TrimSuffix(strings.TrimPrefix(strings.TrimSpace(line), "|"), "|"), "|")
	for i := range row {
		row[i] = strings.TrimSpace(row[i])
	}
	return row
}

func (in *input) row(head, row []string) error {
	in.sections++
	if in.Row == nil {
		return nil
	}
	from := Origin{in.name, in.line}
	if err := in.Row(from, strings.Join(head, "|"), row); err != nil {
		return in.refused(from, err)
	}
	return nil
}
