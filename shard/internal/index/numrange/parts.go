package numrange

import "encoding/binary"

// HeaderLen is the size of the header, which has no checksum.
const HeaderLen = headerLen

// Payload is the range of a payload in an index. Its last four bytes are the checksum of those before.
type Payload struct{ Start, End int }

// Payloads lists the payloads in the header of an index, as far as they are within b. It checks nothing else.
func Payloads(b []byte) (payloads []Payload) {
	if len(b) < headerLen {
		return nil
	}
	at := headerLen
	for i := range 3 {
		n := binary.LittleEndian.Uint64(b[12+8*i:])
		if n > uint64(len(b)-at) {
			break
		}
		payloads = append(payloads, Payload{at, at + int(n)})
		at += int(n)
	}
	return payloads
}
