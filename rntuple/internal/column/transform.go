package column

// unzigzag undoes zigzag encoding in place.
func unzigzag(b []byte, width int) {
	switch width {
	case 2:
		for ; len(b) >= 2; b = b[2:] {
			u := le.Uint16(b)
			le.PutUint16(b, u>>1^-(u&1))
		}
	case 4:
		for ; len(b) >= 4; b = b[4:] {
			u := le.Uint32(b)
			le.PutUint32(b, u>>1^-(u&1))
		}
	case 8:
		for ; len(b) >= 8; b = b[8:] {
			u := le.Uint64(b)
			le.PutUint64(b, u>>1^-(u&1))
		}
	}
}

// dozigzag encodes in place.
func dozigzag(b []byte, width int) {
	switch width {
	case 2:
		for ; len(b) >= 2; b = b[2:] {
			v := int16(le.Uint16(b))
			le.PutUint16(b, uint16(v<<1^v>>15))
		}
	case 4:
		for ; len(b) >= 4; b = b[4:] {
			v := int32(le.Uint32(b))
			le.PutUint32(b, uint32(v<<1^v>>31))
		}
	case 8:
		for ; len(b) >= 8; b = b[8:] {
			v := int64(le.Uint64(b))
			le.PutUint64(b, uint64(v<<1^v>>63))
		}
	}
}

// undelta turns differences into sums in place, from the sum of those before on. The result is the last sum.
func undelta(b []byte, width int, sum uint64) uint64 {
	if width == 4 {
		return uint64(undelta4(b, uint32(sum)))
	}
	for ; len(b) >= 32; b = b[32:] {
		w := b[:32:32]
		a := sum + le.Uint64(w)
		c := a + le.Uint64(w[8:])
		d := c + le.Uint64(w[16:])
		sum = d + le.Uint64(w[24:])
		le.PutUint64(w, a)
		le.PutUint64(w[8:], c)
		le.PutUint64(w[16:], d)
		le.PutUint64(w[24:], sum)
	}
	for ; len(b) >= 8; b = b[8:] {
		sum += le.Uint64(b)
		le.PutUint64(b, sum)
	}
	return sum
}

func undelta4(b []byte, sum uint32) uint32 {
	for ; len(b) >= 16; b = b[16:] {
		w := b[:16:16]
		a := sum + le.Uint32(w)
		c := a + le.Uint32(w[4:])
		d := c + le.Uint32(w[8:])
		sum = d + le.Uint32(w[12:])
		le.PutUint32(w, a)
		le.PutUint32(w[4:], c)
		le.PutUint32(w[8:], d)
		le.PutUint32(w[12:], sum)
	}
	for ; len(b) >= 4; b = b[4:] {
		sum += le.Uint32(b)
		le.PutUint32(b, sum)
	}
	return sum
}

// dodelta turns elements into differences in place, the first to last. The result is the last element.
func dodelta(b []byte, width int, last uint64) uint64 {
	if width == 4 {
		last := uint32(last)
		for ; len(b) >= 4; b = b[4:] {
			v := le.Uint32(b)
			le.PutUint32(b, v-last)
			last = v
		}
		return uint64(last)
	}
	for ; len(b) >= 8; b = b[8:] {
		v := le.Uint64(b)
		le.PutUint64(b, v-last)
		last = v
	}
	return last
}
