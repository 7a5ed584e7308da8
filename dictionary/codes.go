package dictionary

// Codes holds the ids of values in the order of the rows, in as few bytes each as the largest id so far needs. The
// zero value is empty.
type Codes struct {
	chunks []func(dst []uint32) []uint32 // of chunkLen ids, which each writes to dst
	open   []uint32                      // the last chunk, which is not full yet
	n      int
	most   uint32
}

// chunkLen is a compromise between many columns, each with an open chunk, and many chunks.
const chunkLen = 4096

// Len is the number of ids.
func (c *Codes) Len() int { return c.n }

// Append adds ids.
func (c *Codes) Append(ids []uint32) {
	c.n += len(ids)
	for len(ids) > 0 {
		n := min(len(ids), chunkLen-len(c.open))
		if n == chunkLen {
			c.seal(ids[:n])
		} else if c.open = append(c.open, ids[:n]...); len(c.open) == chunkLen {
			c.seal(c.open)
			c.open = c.open[:0]
		}
		ids = ids[n:]
	}
}

// seal stores a full chunk.
func (c *Codes) seal(chunk []uint32) {
	for _, id := range chunk {
		c.most = max(c.most, id)
	}
	switch {
	case c.most < 1<<8:
		c.chunks = append(c.chunks, kept[uint8](chunk))
	case c.most < 1<<16:
		c.chunks = append(c.chunks, kept[uint16](chunk))
	default:
		c.chunks = append(c.chunks, kept[uint32](chunk))
	}
}

// kept copies ids for later.
func kept[N uint8 | uint16 | uint32](ids []uint32) func(dst []uint32) []uint32 {
	all := convert(make([]N, len(ids)), ids)
	return func(dst []uint32) []uint32 { return convert(dst, all) }
}

// Each calls f with all ids in chunks. A chunk is valid until f returns.
func (c *Codes) Each(f func(ids []uint32) error) error {
	buf := make([]uint32, min(c.n, chunkLen))
	for _, chunk := range c.chunks {
		if err := f(chunk(buf)); err != nil {
			return err
		}
	}
	if len(c.open) == 0 {
		return nil
	}
	return f(append(buf[:0], c.open...))
}

func convert[D, S uint8 | uint16 | uint32](dst []D, src []S) []D {
	dst = dst[:len(src)]
	for i, id := range src {
		dst[i] = D(id)
	}
	return dst
}
