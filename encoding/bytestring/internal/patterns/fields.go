// Package patterns has the encodings of byte strings that a program wrote, such as log lines, as what many of them have in common, and what differs:
// numbers, and texts, which are trees again. Each is in a file of its own, as in package codec, whose table lists them.
package patterns

import (
	"encoding/binary"
	"fmt"
	"math"
	"slices"

	"github.com/amudai/amudai-go/encoding"
	"github.com/amudai/amudai-go/encoding/bytestring/internal/encode"
	"github.com/amudai/amudai-go/encoding/bytestring/internal/tree"
	"github.com/amudai/amudai-go/encoding/internal/fields"
	"github.com/amudai/amudai-go/encoding/internal/fields/learn"
	"github.com/amudai/amudai-go/encoding/internal/vector"
	"github.com/amudai/amudai-go/encoding/numeric"
	"github.com/amudai/amudai-go/internal/base/fault"
	"github.com/amudai/amudai-go/internal/base/scratch"
	"github.com/amudai/amudai-go/internal/base/search"
	"github.com/amudai/amudai-go/internal/format/edition"
)

// Fields, code 0x800c: the values as patterns of constant bytes, and columns of the fields between these (package
// fields). Values of a fixed size are not written like that.
//
//	0  2  0c 80
//	2  2  u16 number of columns C
//	4  4  u32 number of patterns P, at most n
//	8  4  u32 number of places F: fields of all patterns
//	12 4  u32 size of all values
//	16 4  u32 size of the patterns' bytes
//	20 4  u32 size of the places
//	24 4  u32 size of the codes
//	28 4  zeros
//	32    C times 12 bytes: the headers of the columns (package fields); zeros up to a multiple of 8, as behind each
//	      of the parts that follow
//	      tree of P byte strings: the constant bytes of the patterns
//	      places: tree of P + 2F u32: the number of fields of each pattern; then for each place its column, and how
//	      many constant bytes are before it, from the place before on
//	      codes: tree of n u32: the pattern of each value
//	      the columns: trees of byte strings or numbers, the latter behind the groups of digits
//
// The fields of a column are in the order of the values.

const fieldsChunk = 2048 // values that are assembled at a time: their fields stay in the cache

// fieldColumn is a column of fields, and the memory for them.
type fieldColumn struct {
	fields.Header
	part   []byte
	at     int         // fields of the values that are passed
	ready  bool        // the numbers, or the texts, are read
	texts  *tree.Block // or
	narrow []uint32
	wide   []uint64

	groups [fields.MaxGroups]fields.Group
	codes  []uint32      // of texts that are a dictionary
	coded  bool          // they are
	kept   bool          // by the decoder, if they are
	dict   []fields.Span // by code

	buffer fields.Buffer // of numbers that are searched
	data   []byte        // texts that are searched
	ends   []int32
	found  []byte // a bit for each text
}

// patterns are the patterns and columns of a block, and the memory for them.
type patterns struct {
	tree    *tree.Tree
	decoder fields.Decoder
	codes   []uint32
	text    []byte
	ends    []int32
	sizes   []uint32
	numbers []uint32
	places  []fields.Place
	columns []fieldColumn
	counts  []uint64 // fields of some values, by column
	next    int      // the value whose fields come next in the columns
	some    []int32  // where some fields end

	// Values from up to (not including) to, which were assembled to know their size, and because values near them were asked for before.
	from, to int
	ahead    int // values that are assembled at least
	data     []byte
	dataEnds []int64
	err      error

	finder fieldFinder
	shape  search.Shape
}

// fieldsParts is the parts of a Fields block before the columns.
type fieldsParts struct {
	count, places         uint64 // patterns, and fields in them
	size                  uint64 // of all values
	heads                 []byte
	texts, numbers, codes []byte
}

func layoutOfFields(r *tree.Reader) (p fieldsParts) {
	columns := r.Uint(2, "columns")
	p.count, p.places, p.size = r.Uint(4, "patterns"), r.Uint(4, "places"), r.Uint(4, "values size")
	texts, numbers, codes := r.Uint(4, "patterns size"), r.Uint(4, "places size"), r.Uint(4, "codes size")
	r.Pad()
	p.heads = r.Next(int(min(fields.HeaderLen*columns, r.Left())))
	for i := range int(columns) {
		r.Bytes(fields.HeaderLen, r.Nth("header of column", i))
	}
	r.PadBetween()
	count := min(p.count, uint64(r.N))
	p.texts = r.Texts("patterns", texts, int(count))
	r.PadBetween()
	p.numbers = r.Numbers("places", numbers, numeric.U32, int(count+2*p.places))
	p.codes = r.Numbers("codes", codes, numeric.U32, r.N)
	return p
}

// layoutOfColumn is that of the column with a header. It keeps groups of digits in memory.
func layoutOfColumn(r *tree.Reader, i int, header []byte, memory []fields.Group) (h fields.Header, part []byte) {
	h, width := fields.ReadHeader(header)
	all, name := r.Next(h.Size), r.Nth("column", i)
	rest, err := h.ReadForm(width, all, memory)
	if len(all) < h.Size {
		err = fault.Corruptf("%d bytes of %d", len(all), h.Size)
	}
	if err != nil {
		r.Fail(fault.In(err, fmt.Sprintf("column %d", i), -1))
		return h, nil
	}
	if groups := h.Size - len(rest); groups > 0 {
		r.Bytes(uint64(groups), r.Nth("groups of digits of column", i))
	}
	switch size := uint64(len(rest)); h.Word {
	case 4:
		part = r.Numbers(name, size, numeric.U32, h.Count)
	case 8:
		part = r.Numbers(name, size, numeric.U64, h.Count)
	default:
		part = r.Texts(name, size, h.Count)
		r.PadBetween()
	}
	return h, part
}

func parseFields(t *tree.Tree, r *tree.Reader, limit int64) (uint64, error) {
	parts := layoutOfFields(r)
	r.NoFixed()
	switch {
	case r.Err != nil:
		return 0, r.Err
	case parts.count > uint64(t.N):
		return 0, fault.Corruptf("%d patterns of %d values", parts.count, t.N)
	case parts.places > uint64(limit)/32:
		return 0, fault.Limitf("%d fields in patterns", parts.places)
	}
	p := tree.State[patterns](t)
	p.tree, p.next, p.from, p.to, p.ahead, p.err = t, 0, 0, 0, 0, nil
	if err := p.readColumns(r, parts.heads); err != nil {
		return 0, err
	}
	if err := p.readPatterns(&parts); err != nil {
		return 0, fault.In(err, "patterns", -1)
	}
	p.codes = scratch.Slice(&p.codes, t.N)
	if err := tree.DecodeNumbers(t, "codes", p.codes, parts.codes); err != nil {
		return 0, err
	}
	return parts.size, p.checkCounts(p.codes, limit)
}

// readColumns finds the columns.
func (p *patterns) readColumns(r *tree.Reader, heads []byte) error {
	n := len(heads) / fields.HeaderLen
	if have := p.columns[:cap(p.columns)]; n > len(have) {
		p.columns = append(have, make([]fieldColumn, n-len(have))...) // with the memory of those that are there
	}
	p.columns = p.columns[:n]
	for i := range p.columns {
		c := &p.columns[i]
		c.Header, c.part = layoutOfColumn(r, i, heads[fields.HeaderLen*i:], c.groups[:])
		c.at, c.ready, c.kept, c.texts = 0, false, false, nil
	}
	r.End()
	return r.Err
}

// readPatterns reads the patterns and their places.
func (p *patterns) readPatterns(parts *fieldsParts) error {
	count := int(parts.count)
	t, err := p.tree.Nested(parts.texts, count)
	if err != nil {
		return err
	}
	size := t.DataLen()
	scratch.Slice(&p.text, size+fields.Slack)
	if err := tree.Decode(t, p.text[:size], scratch.Slice(&p.ends, count), 0); err != nil {
		return err
	}
	scratch.Slice(&p.sizes, count)
	last := int32(0)
	for i, end := range p.ends {
		p.sizes[i], last = uint32(end-last), end
	}
	numbers := scratch.Slice(&p.numbers, count+2*int(parts.places))
	if err := tree.DecodeNumbers(p.tree, "places", numbers, parts.numbers); err != nil {
		return err
	}
	places := scratch.Slice(&p.places, int(parts.places))
	for i := range places {
		places[i] = fields.Place{Column: numbers[count+2*i], Before: numbers[count+2*i+1]}
	}
	return p.decoder.Reset(p.text[:size], p.sizes, numbers[:count], places, len(p.columns))
}

// checkCounts compares the fields of the columns with those of the values.
func (p *patterns) checkCounts(codes []uint32, limit int64) error {
	clear(scratch.Slice(&p.counts, len(p.columns)))
	if _, err := p.decoder.Count(p.counts, codes); err != nil {
		return err
	}
	total := uint64(0)
	for i, n := range p.counts {
		if n != uint64(p.columns[i].Count) {
			return fault.Corruptf("column %d of %d fields, values have %d", i, p.columns[i].Count, n)
		}
		if total += n; total > uint64(limit)/8 {
			return fault.Limitf("values have more than %d fields", total)
		}
	}
	return nil
}

// prepare reads the numbers or texts of a column.
func (p *patterns) prepare(c *fieldColumn) (err error) {
	switch c.Word {
	case 0:
		c.texts, err = p.tree.Nested(c.part, c.Count)
	case 4:
		err = numeric.Decode(scratch.Slice(&c.narrow, c.Count), c.part, p.tree.Num)
	case 8:
		err = numeric.Decode(scratch.Slice(&c.wide, c.Count), c.part, p.tree.Num)
	}
	c.ready = err == nil
	return err
}

// makeReady prepares a column and, of a column with a dictionary, gives the decoder the distinct texts. Code 0, null, is empty.
func (p *patterns) makeReady(c *fieldColumn) error {
	if !c.ready {
		if err := p.prepare(c); err != nil {
			return err
		}
	}
	if c.texts == nil || c.kept {
		return nil
	}
	var v vector.Values
	if c.codes, v, c.coded = c.texts.Dictionary(); !c.coded {
		c.kept = true
		return nil
	}
	at, err := p.decoder.Keep(v.Data)
	if err != nil {
		return err
	}
	dict := scratch.Slice(&c.dict, v.N+1)
	dict[0] = fields.Span{}
	for i := range v.N {
		dict[i+1] = fields.Span{At: at + uint32(v.Offsets[i]), Len: uint32(v.Offsets[i+1] - v.Offsets[i])}
	}
	c.kept = true
	return nil
}

// format makes the texts of the next n fields of a column, and passes these.
func (p *patterns) format(i, n int) (size int, err error) {
	c := &p.columns[i]
	from, to := c.at, c.at+n
	c.at = to
	switch {
	case c.Word == 4:
		return fields.SetNumbers(&p.decoder, i, &c.Column, c.narrow[from:to])
	case c.Word == 8:
		return fields.SetNumbers(&p.decoder, i, &c.Column, c.wide[from:to])
	case c.coded:
		return int(p.decoder.SetCodes(i, c.dict, c.codes[from:to])), nil
	}
	size = c.texts.RangeLen(from, to)
	room, err := p.decoder.Room(size)
	if err != nil {
		return 0, err
	}
	ends := scratch.Slice(&p.some, n)
	if err := tree.DecodeRange(c.texts, from, to, room, ends, 0); err != nil {
		return 0, err
	}
	return size, p.decoder.SetEnds(i, room, ends)
}

// load gives the decoder the fields of the next values, up to (not including) one, and returns the size of these values.
func (p *patterns) load(to int) (size uint64, err error) {
	clear(p.counts)
	if size, err = p.decoder.Count(p.counts, p.codes[p.next:to]); err != nil {
		return 0, err
	}
	p.next = math.MaxInt // if a column fails, others have passed the values: the next seek begins anew
	inColumn := func(err error, i int) error { return fault.In(err, fmt.Sprintf("column %d", i), -1) }
	for i, n := range p.counts {
		if n > 0 {
			if err := p.makeReady(&p.columns[i]); err != nil {
				return 0, inColumn(err, i)
			}
		}
	}
	p.decoder.Begin(p.counts)
	for i, n := range p.counts {
		if n > 0 {
			k, err := p.format(i, int(n))
			if err != nil {
				return 0, inColumn(err, i)
			}
			size += uint64(k)
		}
	}
	p.next = to
	return size, nil
}

// seek makes a value the next.
func (p *patterns) seek(to int) error {
	if to < p.next {
		p.next = 0
		for i := range p.columns {
			p.columns[i].at = 0
		}
	}
	clear(p.counts)
	if _, err := p.decoder.Count(p.counts, p.codes[p.next:to]); err != nil {
		return err
	}
	for i, n := range p.counts {
		p.columns[i].at += int(n)
	}
	p.next = to
	return nil
}

func putFields[O int32 | int64](t *tree.Tree, from, to int, dst []byte, offsets []O, base O) error {
	p := tree.State[patterns](t)
	if len(dst) < t.DataLen || to-from < t.N {
		if err := p.assemble(from, to); err != nil {
			return err
		}
		begin := p.begin(from)
		copy(dst, p.data[begin:p.begin(to)])
		for i, end := range p.dataEnds[from-p.from : to-p.from] {
			offsets[i] = base + O(end-begin)
		}
		return nil
	}
	if err := p.seek(0); err != nil {
		return err
	}
	done := 0
	for p.next < t.N {
		at := p.next
		size, err := p.load(min(at+fieldsChunk, t.N))
		if err != nil {
			return err
		}
		if size > uint64(len(dst)-done) {
			return fault.Corruptf("values of more than %d bytes", len(dst))
		}
		codes, ends := p.codes[at:p.next], offsets[at:p.next]
		if out := dst[done:]; cap(out)-int(size) >= fields.Slack {
			fields.Assemble(&p.decoder, out, codes, ends, base+O(done))
		} else {
			p.from, p.to = 0, 0
			fields.Assemble(&p.decoder, scratch.Slice(&p.data, int(size)+fields.Slack), codes, ends, base+O(done))
			copy(out, p.data[:size])
		}
		done += int(size)
	}
	if done != len(dst) {
		return fault.Corruptf("values of %d bytes instead of %d", done, len(dst))
	}
	return nil
}

// Values that are asked for one near the other are assembled together with those between them.
const (
	nearValues = 32
	leastAhead = 64
)

// assemble makes some values in the Scratch.
func (p *patterns) assemble(from, to int) error {
	if from >= p.from && to <= p.to {
		return p.err
	}
	if from >= p.to && from-p.to <= nearValues {
		p.ahead = min(max(2*p.ahead, leastAhead), fieldsChunk)
	} else {
		p.ahead = 0
	}
	if end := min(from+p.ahead, p.tree.Wanted()); end <= to || p.assembleAll(from, end) != nil {
		return p.assembleAll(from, to)
	}
	return nil
}

func (p *patterns) assembleAll(from, to int) error {
	scratch.Slice(&p.dataEnds, to-from)
	p.data, p.from, p.to = p.data[:0], from, to
	if p.err = p.assembleNext(from, to); p.err != nil {
		p.data = p.data[:0]
		clear(p.dataEnds)
	}
	return p.err
}

// begin is where a value begins in what was assembled, or the last one ends.
func (p *patterns) begin(at int) int64 {
	if at == p.from {
		return 0
	}
	return p.dataEnds[at-p.from-1]
}

func (p *patterns) assembleNext(from, to int) error {
	if err := p.seek(from); err != nil {
		return err
	}
	for p.next < to {
		at, done := p.next, len(p.data)
		size, err := p.load(min(at+fieldsChunk, to))
		if err != nil {
			return err
		}
		if size > uint64(p.tree.DataLen-done) {
			return fault.Corruptf("values of more than %d bytes", p.tree.DataLen)
		}
		p.data = slices.Grow(p.data, int(size)+fields.Slack)[:done+int(size)]
		fields.Assemble(&p.decoder, p.data[done:], p.codes[at:p.next], p.dataEnds[at-from:p.next-from], int64(done))
	}
	return nil
}

// fieldsLen is the size of some values. Where these cannot be decoded, decoding them tells why.
func fieldsLen(t *tree.Tree, from, to int) int {
	if from == 0 && to == t.N {
		return t.DataLen
	}
	if from == to {
		return 0
	}
	p := tree.State[patterns](t)
	_ = p.assemble(from, to)
	return int(p.begin(to) - p.begin(from))
}

func appendFields(w *encode.Workspace, dst []byte, in *encode.Input, r encode.Request) (out []byte, ok bool) {
	e, v := &w.Fields, in.Values
	if v.Fixed > 0 {
		return dst, false
	}
	kept := r.Kept
	if kept == nil {
		kept = &encode.Kept{Patterns: r.Patterns}
	} else if kept.Patterns == nil && v.N <= learn.FewSamples { // others are learnt from more of the values
		kept.Patterns = r.Patterns
	}
	kept.Patterns = e.Encode(v.Data, v.Offsets, kept.Patterns, r.Forced)
	if len(e.Columns) > maxColumns {
		return dst, false
	}
	start := len(dst)
	const header = 32
	dst = append(dst, make([]byte, encoding.PadTo8(header+fields.HeaderLen*len(e.Columns)))...)
	u32 := func(at, n int) { binary.LittleEndian.PutUint32(dst[start+at:], uint32(n)) }
	binary.LittleEndian.PutUint16(dst[start:], uint16(encoding.Fields))
	binary.LittleEndian.PutUint16(dst[start+2:], uint16(len(e.Columns)))
	u32(4, len(e.Patterns))
	u32(12, len(v.Bytes()))
	text, offsets, places := e.Layout()
	u32(8, (len(places)-len(e.Patterns))/2)
	at := len(dst)
	dst = encode.EndPart(r.Texts.Append(dst, 0, 0, vector.Values{Data: text, Offsets: offsets, N: len(e.Patterns)}), start, at, 16)
	at = len(dst)
	dst = encode.EndPart(encode.AppendNumbers(r.Numbers, dst, encode.Places, 1, places), start, at, 20)
	at = len(dst)
	dst = encode.EndPart(encode.AppendNumbers(r.Numbers, dst, encode.Codes, 2, e.Codes), start, at, 24)
	for i := range e.Columns {
		c, head := &e.Columns[i], header+fields.HeaderLen*i
		c.PutHeader(dst[start+head:])
		at = len(dst)
		dst = encode.EndPart(appendColumn(c.AppendGroups(dst), e, c, r), start, at, head+4)
	}
	return dst, true
}

// maxColumns is the most columns that we write; readers take 65,535.
const maxColumns = tree.MaxNested - 1

// appendColumn appends the fields of a column.
func appendColumn(dst []byte, e *learn.Encoder, c *learn.EncodedColumn, r encode.Request) []byte {
	switch c.Word() {
	case 0:
		return r.Texts.Append(dst, 4, c.Key, vector.Values{Data: c.Text, Offsets: c.Offsets, N: len(c.Offsets) - 1})
	case 4:
		return encode.AppendColumn(r.Numbers, dst, c.Key, e.Narrow(c))
	}
	return encode.AppendColumn(r.Numbers, dst, c.Key, c.Numbers)
}

// Fields, code 0x800c.
var Fields = encode.Row{
	Row: tree.Row{
		Code: encoding.Fields,
		Layout: func(r *tree.Reader) {
			var groups [fields.MaxGroups]fields.Group
			for i, heads := 0, layoutOfFields(r).heads; len(heads) >= fields.HeaderLen && r.Err == nil; i, heads = i+1, heads[fields.HeaderLen:] {
				layoutOfColumn(r, i, heads, groups[:])
			}
		},
		Parse:    parseFields,
		Put32:    putFields[int32],
		Put64:    putFields[int64],
		RangeLen: fieldsLen,
		Begins:   fieldsBegin,
		Find:     findInFields,
		Shapes:   fieldShapes,
	},
	Needs:  edition.Only(edition.Fields),
	Trials: encode.Once(encoding.Balanced, encoding.MinimalCompression, encoding.HighCompression, encoding.MinimalSize),
	Suits: func(w *encode.Workspace, in *encode.Input, l *encode.Learned) bool {
		if in.Fixed == 0 && in.N >= minFields {
			l.Patterns = w.Fields.Suits(in.Data, in.Offsets)
		}
		return l.Patterns != nil
	},
	Append: appendFields,
	Cost:   encode.DecodeCost{PerByte: 180, PerStored: 200, PerValue: 20000},
	Long:   true,
	Short:  true,
	Nests:  true,
	Whole:  true,
	Parts:  []string{"Plain", "Plain", "Plain", "Plain", "Plain"}, // patterns, places, codes, numbers, texts
}

// minFields is how many values are worth learning patterns of.
const minFields = 64
