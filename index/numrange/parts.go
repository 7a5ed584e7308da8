package numrange

import "encoding/binary"

// HeaderLen is the size of the header, which has no checksum.
const HeaderLen = headerLen

// Payload is the place of a payload in an index, in bytes from its start. Its last four are
// the checksum of those before.
type Payload struct{ Start, End int }

// Payloads lists the payloads of an index that its header tells of, as far as they lie
// inside of b. It checks nothing else.
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
