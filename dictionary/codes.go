package dictionary

// Codes holds the ids of values in the order of the rows, in as few bytes each as the largest id so far needs. The
// zero value is empty.
type Codes struct {
	// Chunks of chunkLen ids: first those of one byte, then of two, then of four.
	narrow [][]uint8
	middle [][]uint16
	wide   [][]uint32
	open   []uint32 // the last chunk, which is not full yet
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
		c.narrow = append(c.narrow, convert[uint8](make([]uint8, chunkLen), chunk))
	case c.most < 1<<16:
		c.middle = append(c.middle, convert[uint16](make([]uint16, chunkLen), chunk))
	default:
		c.wide = append(c.wide, convert[uint32](make([]uint32, chunkLen), chunk))
	}
}

// Each calls f with all ids in chunks. A chunk is valid until f returns.
func (c *Codes) Each(f func(ids []uint32) error) error {
	buf := make([]uint32, min(c.n, chunkLen))
	for _, chunk := range c.narrow {
		if err := f(convert(buf, chunk)); err != nil {
			return err
		}
	}
	for _, chunk := range c.middle {
		if err := f(convert(buf, chunk)); err != nil {
			return err
		}
	}
	for _, chunk := range c.wide {
		if err := f(convert(buf, chunk)); err != nil {
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
