package visible

import (
	"bytes"
	"strconv"
	"unicode/utf16"
	"unicode/utf8"
)

// JSON is what encoding/json wrote, with each of its strings as Text makes it.
func JSON(b []byte) []byte {
	var out bytes.Buffer
	out.Grow(len(b))
	for len(b) > 0 {
		n := bytes.IndexFunc(b, func(r rune) bool { return r == '\\' || r >= utf8.RuneSelf })
		if n < 0 {
			n = len(b)
		}
		out.Write(b[:n])
		if b = b[n:]; len(b) == 0 {
			break
		}
		r, size := character(b)
		if spaced(r) {
			out.Write(b[:size])
		} else {
			out.WriteByte('\\') // of an escape that is text
			out.WriteString(escape(r))
		}
		b = b[size:]
	}
	return out.Bytes()
}

// character is the first of b, of a string in JSON, and how many bytes it has.
func character(b []byte) (r rune, size int) {
	if b[0] != '\\' {
		return utf8.DecodeRune(b)
	}
	if len(b) < 2 || b[1] != 'u' {
		short := map[byte]rune{'b': '\b', 'f': '\f', 'n': '\n', 'r': '\r', 't': '\t'}
		if len(b) > 1 && short[b[1]] != 0 {
			return short[b[1]], 2
		}
		return '\\', min(2, len(b)) // or a quote
	}
	r, size = four(b), min(6, len(b))
	if utf16.IsSurrogate(r) && len(b) >= 12 && b[6] == '\\' && b[7] == 'u' {
		if whole := utf16.DecodeRune(r, four(b[6:])); whole != utf8.RuneError {
			return whole, 12
		}
	}
	return r, size
}

// four are the digits of an escape.
func four(b []byte) rune {
	n, err := strconv.ParseUint(string(b[2:min(6, len(b))]), 16, 16)
	if err != nil {
		return utf8.RuneError
	}
	return rune(n)
}
