package input

import "encoding/binary"

// rawHead is the length of the world, which comes first.
const rawHead = 4

// Raw is the input in one piece, for fuzzers that know no other: four bytes, the
// length of the world, least significant first; the world; the schedule.
func (in Input) Raw() []byte {
	out := binary.LittleEndian.AppendUint32(nil, uint32(len(in.World)))
	return append(append(out, in.World...), in.Schedule...)
}

// FromRaw reads any bytes as an input. A length that is too large is taken modulo
// what there is, so that a fuzzer that changes it moves the border.
func FromRaw(raw []byte) Input {
	if len(raw) < rawHead {
		return Input{World: raw}
	}
	n, rest := uint64(binary.LittleEndian.Uint32(raw)), raw[rawHead:]
	if n > uint64(len(rest)) {
		n %= uint64(len(rest)) + 1
	}
	return Input{World: rest[:n:n], Schedule: rest[n:]}
}
