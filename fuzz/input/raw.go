package input

import "encoding/binary"

// rawHead is the size of the length of the world.
const rawHead = 4

// Raw returns the input as one byte string, for fuzzers that support no other form: the length of the world
// in four bytes, least significant first; the world; the schedule.
func (in Input) Raw() []byte {
	out := binary.LittleEndian.AppendUint32(nil, uint32(len(in.World)))
	return append(append(out, in.World...), in.Schedule...)
}

// FromRaw converts any bytes to an input. A length that is too large is reduced modulo the available
// bytes, so that a fuzzer that changes it moves the boundary.
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
