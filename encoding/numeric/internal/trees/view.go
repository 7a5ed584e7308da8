package trees

import (
	"github.com/amudai/amudai-go/encoding/internal/fastlanes"
	"github.com/amudai/amudai-go/encoding/numeric/internal/word"
	"github.com/amudai/amudai-go/internal/base/fault"
	"github.com/amudai/amudai-go/internal/base/simd"
)

// View is a tree that was parsed and checked, whose values can be had in some other way than all of them in order: where
// the encoding allows that without decoding the others. Its memory belongs to the Scratch.
type View[U word.Uint] struct {
	Form    Form
	Values  []U        // Single: one; Runs: one for each; Coded: what codes 0, 1, ... stand for; Dense: all
	Lengths []uint32   // Runs: how long each is; nobody has checked them
	Codes   *Codes     // Coded
	Chunks  Chunked[U] // InChunks
}

// Form is how the values of a view are reached.
type Form uint8

// The forms.
const (
	Dense    Form = iota // all were decoded
	Single               // all are the same
	Runs                 // values and how often each comes
	Coded                // places in a table
	InChunks             // FastLanes chunks
)

// ParseView parses a tree of n values. Encodings without a form of their own are decoded whole, to dst or, if that is nil, to memory of the
// Scratch. If ascending places are given, the values at others may be wrong. The view is valid until another tree of the same depth is parsed.
func ParseView[U word.Uint](dst []U, tree []byte, t word.Type, n int, places []uint32, s *Scratch) (*View[U], error) {
	v := viewAt[U](s)
	return v, v.Parse(dst, &Part{tree, true, t, n}, places, s)
}

// Parse is [ParseView] of a tree whose view is that of the one around it.
func (v *View[U]) Parse(dst []U, p *Part, places []uint32, s *Scratch) error {
	row, err := s.table.of(p.Bytes, p.T)
	if err != nil {
		return err
	}
	r, err := s.enter(p)
	if err != nil {
		return err
	}
	v.Form, v.Values, v.Chunks.Add, v.Chunks.Positions = Dense, nil, 0, nil // what not all encodings set
	if d := decoderOf[U](row); d.View != nil {
		err = d.View(v, dst, r, places, s)
	} else {
		if v.Values = dst; dst == nil {
			v.Values = word.Take[U](&s.Mem, p.N)
		}
		err = d.Decode(v.Values, r, s)
	}
	s.leave()
	if err != nil {
		return fault.In(err, row.Code.String(), -1)
	}
	return nil
}

// ParseScaled is Parse of a part, a tree of U, from which an encoding makes add + step * value.
func (v *View[U]) ParseScaled(dst []U, p *Part, add, step U, places []uint32, s *Scratch) error {
	if err := v.Parse(dst, p, places, s); err != nil {
		return err
	}
	if v.Form != InChunks {
		if add != 0 || step != 1 {
			Scale(v.Values, add, step)
		}
		return nil
	}
	c := &v.Chunks
	c.Add, c.Step = add+step*c.Add, step*c.Step
	if c.Step == 1 {
		c.Base, c.Add = c.Base+c.Add, 0
	}
	return nil
}

// Put sets dst to all values of the view of a tree, unless it was parsed to dst.
func (v *View[U]) Put(dst []U, tree []byte, s *Scratch) (err error) {
	switch v.Form {
	case Single:
		word.Fill(dst, v.Values[0])
	case Runs:
		err = ExpandRuns(dst, v.Values, v.Lengths)
	case Coded:
		err = GatherCodes(dst, v.Codes, v.Values, s)
	case InChunks:
		v.Chunks.each(dst, len(dst), s, func([]U) {})
	}
	if err != nil {
		return fault.In(err, Peek(tree).String(), -1)
	}
	return nil
}

// RunEnds turns the lengths of runs, which must make n values, into the places behind them.
func RunEnds(lengths []uint32, n int) ([]uint32, error) {
	sum := uint64(0)
	for i, l := range lengths {
		sum += uint64(l)
		lengths[i] = uint32(sum)
	}
	if sum != uint64(n) {
		return nil, fault.Corruptf("runs of %d values for %d", sum, n)
	}
	return lengths, nil
}

// ExpandRuns repeats each value. Most runs are short: the first values of a run are written without asking for its
// length, where there is room.
func ExpandRuns[U comparable](dst []U, values []U, lengths []uint32) error {
	const ahead = 8
	total := len(dst)
	done, n := simd.Repeat(dst, values, lengths)
	dst, values, lengths = dst[n:], values[done:], lengths[done:len(values)]
	for i, v := range values {
		n := uint64(lengths[i])
		if n > uint64(len(dst)) {
			return fault.Corruptf("runs of more than %d values", total)
		}
		if len(dst) >= ahead {
			d := (*[ahead]U)(dst)
			d[0], d[1], d[2], d[3] = v, v, v, v
			d[4], d[5], d[6], d[7] = v, v, v, v
			if n > ahead {
				word.Fill(dst[ahead:n], v)
			}
		} else {
			word.Fill(dst[:n], v)
		}
		dst = dst[n:]
	}
	if len(dst) != 0 {
		return fault.Corruptf("runs of %d values for %d", total-len(dst), total)
	}
	return nil
}

// Codes are the codes of a dictionary: packed, or all of them.
type Codes struct {
	Chunks Chunked[uint32]
	All    []uint32 // nil if packed
	next   int      // first exception behind the chunk that was unpacked last
}

// ReadCodes reads a part that is a tree of codes, as [ParseView] does. They are valid until it is called again.
func ReadCodes(p Part, places []uint32, s *Scratch) (*Codes, error) {
	v, err := ParseView[uint32](nil, p.Bytes, p.T, p.N, places, s)
	if err != nil {
		return nil, err
	}
	c := &s.codes
	*c = Codes{All: v.Values}
	switch v.Form {
	case InChunks:
		c.Chunks = v.Chunks
	case Single, Runs, Coded:
		c.All = word.Take[uint32](&s.Mem, p.N)
		err = v.Put(c.All, p.Bytes, s)
	}
	return c, err
}

// Chunk is the codes from at on, up to 1024 of n, in tmp or where they are. Chunks are asked for in their order.
func (c *Codes) Chunk(tmp *[fastlanes.ChunkLen]uint32, at, n int) []uint32 {
	to := min(at+fastlanes.ChunkLen, n)
	if c.All != nil {
		return c.All[at:to]
	}
	c.next = c.Chunks.Whole(tmp, c.Chunks.Base, at, c.next)
	part := tmp[:to-at]
	c.Chunks.Finish(part)
	return part
}

// GatherCodes sets dst to what its codes stand for, a chunk at a time.
func GatherCodes[D any](dst []D, c *Codes, table []D, s *Scratch) error {
	tmp := (*[fastlanes.ChunkLen]uint32)(word.Take[uint32](&s.Mem, fastlanes.ChunkLen))
	for at := 0; at < len(dst); at += fastlanes.ChunkLen {
		part := c.Chunk(tmp, at, len(dst))
		if err := Gather(dst[at:at+len(part)], part, table); err != nil {
			return err
		}
	}
	return nil
}

// Gather sets each value of dst to the one that its code stands for.
//
// It handles 4 at a time, because the time of a loop over one depends on where the linker puts it. The loop behind finds the bad code.
func Gather[U any](dst []U, codes []uint32, table []U) error {
	codes = codes[:len(dst):len(dst)]
	n, at := uint64(len(table)), 0
	for ; at < len(dst)-3; at += 4 {
		d, c := dst[at:at+4:at+4], codes[at:at+4:at+4]
		c0, c1, c2, c3 := uint64(c[0]), uint64(c[1]), uint64(c[2]), uint64(c[3])
		if c0 >= n || c1 >= n || c2 >= n || c3 >= n {
			break
		}
		d[0], d[1], d[2], d[3] = table[c0], table[c1], table[c2], table[c3]
	}
	dst, codes = dst[at:], codes[at:]
	for i, c := range codes {
		if uint64(c) >= uint64(len(table)) {
			return fault.Corruptf("code %d in a dictionary of %d values", c, len(table)-1)
		}
		dst[i] = table[c]
	}
	return nil
}
