package dictionary

// Part is a part of a VALUE_DICTIONARY buffer that has a checksum. Offsets are bytes from
// the start of the buffer.
type Part struct {
	Name       string // "header", "values", "offsets" or "sorted ids"
	Length     int    // offset of the length of the bytes, u64; -1 for the header
	Start, End int    // of the bytes under the checksum
	Sum        int    // offset of the checksum, u32
	Room       int    // maximum bytes of the part
}

// Parts lists the parts of a buffer, the header first, that begin within it. The packed form is one part, a header.
// Nothing else is checked: End may be beyond Start+Room if the length is wrong.
func Parts(b []byte) []Part {
	if isPacked(b) {
		p, err := parsePacked(b)
		if err != nil || p.len() > int64(len(b)) {
			return nil
		}
		n := int(p.len()) - 4
		return []Part{{"header", -1, 0, n, n, n}}
	}
	if len(b) < headerLen {
		return nil
	}
	parts := []Part{{"header", -1, 0, headerUsed, headerUsed, headerUsed}}
	for i, name := range [...]string{"values", "offsets", "sorted ids"} {
		s := span{le.Uint64(b[14+16*i:]), le.Uint64(b[22+16*i:])}
		if s.check(name, uint64(len(b))) != nil {
			continue
		}
		start, room := int(s.start)+8, int(s.end-s.start)-8-sectionZeros-4
		n := min(le.Uint64(b[s.start:]), uint64(len(b)))
		parts = append(parts, Part{name, int(s.start), start, start + int(n), int(s.end) - 4, room})
	}
	return parts
}
