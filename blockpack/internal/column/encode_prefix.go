package column

import (
	"encoding/binary"
)

// prefixParts is kind 10.
type prefixParts struct {
	done           bool
	plain          []byte
	dict, suffixes []byte
}

// prefixSize is the size of kinds 10 and 11. Entry 0 of the prefixes is empty, and stands for no prefix.
func (e *Encoder) prefixSize() (size int, err error) {
	p := &e.prefixes
	if !p.done {
		p.plain = binary.LittleEndian.AppendUint32(p.plain[:0], 1)
		p.plain = appendSection(p.plain, nil)
		if p.dict, err = e.compress(p.dict[:0], p.plain); err != nil {
			return 0, err
		}
		p.plain = append(p.plain[:0], 1)
		for i := range e.count {
			p.plain = appendSection(append(p.plain, 0), e.bytes(i))
		}
		if p.suffixes, err = e.compress(p.suffixes[:0], p.plain); err != nil {
			return 0, err
		}
		p.done = true
	}
	return 2 + e.rowsSize() + 4 + len(p.dict) + 4 + len(p.suffixes), nil
}
