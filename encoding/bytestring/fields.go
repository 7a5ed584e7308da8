package bytestring

import (
	"encoding/binary"
	"fmt"
	"math"
	"slices"

	"github.com/amudai/amudai-go/encoding"
	"github.com/amudai/amudai-go/encoding/bytestring/internal/encode"
	"github.com/amudai/amudai-go/encoding/internal/fields"
	"github.com/amudai/amudai-go/encoding/internal/fields/learn"
	"github.com/amudai/amudai-go/encoding/numeric"
	"github.com/amudai/amudai-go/internal/base/fault"
	"github.com/amudai/amudai-go/internal/base/scratch"
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

const (
	fieldsHeader = 30
	fieldsChunk  = 2048 // values that are assembled at a time: their fields stay in the cache
)

// fieldColumn is a column of fields, and the memory for them.
type fieldColumn struct {
	fields.Header
	part   []byte
	at     int    // fields of the values that are passed
	ready  bool   // the numbers, or the texts, are read
	texts  *Block // or
	narrow []uint32
	wide   []uint64

	groups [fields.MaxGroups]fields.Group
	coded  bool          // the texts are a dictionary
	kept   bool          // by the decoder, if they are
	dict   []fields.Span // by code

	buffer fields.Buffer // of numbers that are searched
	data   []byte        // texts that are searched
	ends   []int32
	found  []byte // a bit for each text
}

// patterns are the patterns and columns of a block, and the memory for them.
type patterns struct {
	decoder fields.Decoder
	text    []byte
	ends    []int32
	sizes   []uint32
	numbers []uint32
	places  []fields.Place
	columns []fieldColumn
	counts  []uint64 // fields of some values, by column
	next    int      // the value whose fields come next in the columns
	some    []int32  // where some fields end

	// Values from up to (not including) to, which were assembled to know their size.
	from, to int
	data     []byte
	dataEnds []int64
	err      error

	finder fieldFinder
}

func parseFields(b *Block, tree []byte, limit int64) (uint64, error) {
	header, rest, err := split(tree, fieldsHeader)
	if err != nil {
		return 0, err
	}
	u32 := func(at int) uint64 { return uint64(binary.LittleEndian.Uint32(header[at-2:])) }
	columns, count, places := uint64(binary.LittleEndian.Uint16(header)), u32(4), u32(8)
	switch {
	case b.fixed > 0:
		return 0, fault.Corruptf("fields of byte strings of %d bytes each", b.fixed)
	case count > uint64(b.n):
		return 0, fault.Corruptf("%d patterns of %d values", count, b.n)
	case places > uint64(limit)/32:
		return 0, fault.Limitf("%d fields in patterns", places)
	}
	heads, rest, err := padded(rest, fields.HeaderLen*columns, "headers of columns")
	if err != nil {
		return 0, err
	}
	var parts [3][]byte
	for i, what := range [...]string{"patterns", "places", "codes"} {
		if parts[i], rest, err = padded(rest, u32(16+4*i), what); err != nil {
			return 0, err
		}
	}
	if b.s.patterns == nil {
		b.s.patterns = new(patterns)
	}
	p := b.s.patterns
	p.next, p.from, p.to, p.err = 0, 0, 0, nil
	if err := p.readColumns(heads, rest); err != nil {
		return 0, err
	}
	if err := b.readPatterns(parts[0], parts[1], int(count), int(places)); err != nil {
		return 0, fault.In(err, "patterns", -1)
	}
	b.codes = scratch.Slice(&b.s.codes, b.n)
	if err := numeric.Decode(b.codes, parts[2], &b.s.num); err != nil {
		return 0, fault.In(err, "codes", -1)
	}
	return u32(12), p.checkCounts(b.codes, limit)
}

// readColumns finds the columns.
func (p *patterns) readColumns(heads, rest []byte) (err error) {
	n := len(heads) / fields.HeaderLen
	if have := p.columns[:cap(p.columns)]; n > len(have) {
		p.columns = append(have, make([]fieldColumn, n-len(have))...) // with the memory of those that are there
	}
	p.columns = p.columns[:n]
	for i := range p.columns {
		c, width := &p.columns[i], 0
		c.Header, width = fields.ReadHeader(heads[fields.HeaderLen*i:])
		c.at, c.ready, c.kept, c.texts = 0, false, false, nil
		if c.part, rest, err = padded(rest, uint64(c.Size), "fields"); err == nil {
			c.part, err = c.ReadForm(width, c.part, c.groups[:])
		}
		if err != nil {
			return fault.In(err, fmt.Sprintf("column %d", i), -1)
		}
	}
	if len(rest) > 0 {
		return fault.Corruptf("%d bytes behind the columns", len(rest))
	}
	return nil
}

// readPatterns reads the patterns and their places.
func (b *Block) readPatterns(text, places []byte, count, fieldCount int) error {
	p := b.s.patterns
	t, err := b.nested(text, count)
	if err != nil {
		return err
	}
	size := t.DataLen()
	scratch.Slice(&p.text, size+fields.Slack)
	if err := Decode(t, p.text[:size], scratch.Slice(&p.ends, count), 0); err != nil {
		return err
	}
	scratch.Slice(&p.sizes, count)
	last := int32(0)
	for i, end := range p.ends {
		p.sizes[i], last = uint32(end-last), end
	}
	numbers := scratch.Slice(&p.numbers, count+2*fieldCount)
	if err := numeric.Decode(numbers, places, &b.s.num); err != nil {
		return fault.In(err, "places", -1)
	}
	p.places = scratch.Slice(&p.places, fieldCount+1)[:fieldCount] // a pointer may stand behind the last
	for i := range p.places {
		p.places[i] = fields.Place{Column: numbers[count+2*i], Before: numbers[count+2*i+1]}
	}
	return p.decoder.Reset(p.text[:size], p.sizes, numbers[:count], p.places, len(p.columns))
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
func (b *Block) prepare(c *fieldColumn) (err error) {
	switch c.Word {
	case 0:
		c.texts, err = b.nested(c.part, c.Count)
	case 4:
		err = numeric.Decode(scratch.Slice(&c.narrow, c.Count), c.part, &b.s.num)
	case 8:
		err = numeric.Decode(scratch.Slice(&c.wide, c.Count), c.part, &b.s.num)
	}
	c.ready = err == nil
	return err
}

// makeReady prepares a column and, of a column with a dictionary, gives the decoder the distinct texts. Code 0, null, is empty.
func (b *Block) makeReady(c *fieldColumn) error {
	if !c.ready {
		if err := b.prepare(c); err != nil {
			return err
		}
	}
	if c.texts == nil || c.kept {
		return nil
	}
	p := b.s.patterns
	var v Values
	if _, v, c.coded = c.texts.Dictionary(); !c.coded {
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
func (b *Block) format(i, n int) (size int, err error) {
	p := b.s.patterns
	c := &p.columns[i]
	from, to := c.at, c.at+n
	c.at = to
	switch {
	case c.Word == 4:
		return fields.SetNumbers(&p.decoder, i, &c.Column, c.narrow[from:to])
	case c.Word == 8:
		return fields.SetNumbers(&p.decoder, i, &c.Column, c.wide[from:to])
	case c.coded:
		return int(p.decoder.SetCodes(i, c.dict, c.texts.codes[from:to])), nil
	}
	size = c.texts.RangeLen(from, to)
	room, err := p.decoder.Room(size)
	if err != nil {
		return 0, err
	}
	ends := scratch.Slice(&p.some, n)
	if err := DecodeRange(c.texts, from, to, room, ends, 0); err != nil {
		return 0, err
	}
	return size, p.decoder.SetEnds(i, room, ends)
}

// load gives the decoder the fields of the next values, up to (not including) one, and returns the size of these values.
func (b *Block) load(to int) (size uint64, err error) {
	p := b.s.patterns
	clear(p.counts)
	if size, err = p.decoder.Count(p.counts, b.codes[p.next:to]); err != nil {
		return 0, err
	}
	p.next = math.MaxInt // if a column fails, others have passed the values: the next seek begins anew
	inColumn := func(err error, i int) error { return fault.In(err, fmt.Sprintf("column %d", i), -1) }
	for i, n := range p.counts {
		if n > 0 {
			if err := b.makeReady(&p.columns[i]); err != nil {
				return 0, inColumn(err, i)
			}
		}
	}
	p.decoder.Begin(p.counts)
	for i, n := range p.counts {
		if n > 0 {
			k, err := b.format(i, int(n))
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
func (b *Block) seek(to int) error {
	p := b.s.patterns
	if to < p.next {
		p.next = 0
		for i := range p.columns {
			p.columns[i].at = 0
		}
	}
	clear(p.counts)
	if _, err := p.decoder.Count(p.counts, b.codes[p.next:to]); err != nil {
		return err
	}
	for i, n := range p.counts {
		p.columns[i].at += int(n)
	}
	p.next = to
	return nil
}

func putFields[O int32 | int64](b *Block, from, to int, dst []byte, offsets []O, base O) error {
	p := b.s.patterns
	if len(dst) < b.dataLen || to-from < b.n {
		if err := b.assemble(from, to); err != nil {
			return err
		}
		copy(dst, p.data)
		for i, end := range p.dataEnds {
			offsets[i] = base + O(end)
		}
		return nil
	}
	if err := b.seek(0); err != nil {
		return err
	}
	done := 0
	for p.next < b.n {
		at := p.next
		size, err := b.load(min(at+fieldsChunk, b.n))
		if err != nil {
			return err
		}
		if size > uint64(len(dst)-done) {
			return fault.Corruptf("values of more than %d bytes", len(dst))
		}
		codes, ends := b.codes[at:p.next], offsets[at:p.next]
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

// assemble makes some values in the Scratch.
func (b *Block) assemble(from, to int) error {
	p := b.s.patterns
	if p.from == from && p.to == to && from < to {
		return p.err
	}
	scratch.Slice(&p.dataEnds, to-from)
	p.data, p.from, p.to = p.data[:0], from, to
	if p.err = b.assembleNext(from, to); p.err != nil {
		p.data = p.data[:0]
		clear(p.dataEnds)
	}
	return p.err
}

func (b *Block) assembleNext(from, to int) error {
	if err := b.seek(from); err != nil {
		return err
	}
	p := b.s.patterns
	for p.next < to {
		at, done := p.next, len(p.data)
		size, err := b.load(min(at+fieldsChunk, to))
		if err != nil {
			return err
		}
		if size > uint64(b.dataLen-done) {
			return fault.Corruptf("values of more than %d bytes", b.dataLen)
		}
		p.data = slices.Grow(p.data, int(size)+fields.Slack)[:done+int(size)]
		fields.Assemble(&p.decoder, p.data[done:], b.codes[at:p.next], p.dataEnds[at-from:p.next-from], int64(done))
	}
	return nil
}

// fieldsLen is the size of some values. Where these cannot be decoded, decoding them tells why.
func fieldsLen(b *Block, from, to int) int {
	if from == 0 && to == b.n {
		return b.dataLen
	}
	_ = b.assemble(from, to)
	return len(b.s.patterns.data)
}

func appendFields(w *encode.Workspace, dst []byte, in *encode.Input, r encode.Request) (out []byte, ok bool, err error) {
	e, v := &w.Fields, in.Values
	if v.Fixed > 0 {
		return dst, false, nil
	}
	kept := r.Kept
	if kept == nil {
		kept = new(encode.Kept)
	}
	kept.Patterns = e.Encode(v.Data, v.Offsets, kept.Patterns, r.Forced)
	if len(e.Columns) > maxColumns {
		return dst, false, nil
	}
	start := len(dst)
	const header = 2 + fieldsHeader
	dst = append(dst, make([]byte, encoding.PadTo8(header+fields.HeaderLen*len(e.Columns)))...)
	u32 := func(at, n int) { binary.LittleEndian.PutUint32(dst[start+at:], uint32(n)) }
	binary.LittleEndian.PutUint16(dst[start:], uint16(encoding.Fields))
	binary.LittleEndian.PutUint16(dst[start+2:], uint16(len(e.Columns)))
	u32(4, len(e.Patterns))
	u32(12, len(v.Bytes()))
	part := len(dst)
	end := func(field int) {
		u32(field, len(dst)-part)
		dst = encode.Pad(dst, start)
		part = len(dst)
	}
	text, offsets, places := e.Layout()
	u32(8, (len(places)-len(e.Patterns))/2)
	if dst, err = r.Texts.Append(dst, 0, 0, Values{Data: text, Offsets: offsets, N: len(e.Patterns)}); err != nil {
		return dst, false, err
	}
	end(16)
	if dst, err = r.Numbers.AppendPlaces(dst, places); err != nil {
		return dst, false, err
	}
	end(20)
	if dst, err = r.Numbers.AppendPatternCodes(dst, e.Codes); err != nil {
		return dst, false, err
	}
	end(24)
	for i := range e.Columns {
		c, at := &e.Columns[i], header+fields.HeaderLen*i
		c.PutHeader(dst[start+at:])
		if dst, err = appendColumn(c.AppendGroups(dst), e, c, r); err != nil {
			return dst, false, err
		}
		end(at + 4)
	}
	return dst, true, nil
}

// maxColumns is the most columns that we write; readers take 65,535.
const maxColumns = maxNested - 1

// appendColumn appends the fields of a column.
func appendColumn(dst []byte, e *learn.Encoder, c *learn.EncodedColumn, r encode.Request) ([]byte, error) {
	switch c.Word() {
	case 0:
		return r.Texts.Append(dst, 4, c.Key, Values{Data: c.Text, Offsets: c.Offsets, N: len(c.Offsets) - 1})
	case 4:
		return r.Numbers.AppendNarrow(dst, c.Key, e.Narrow(c))
	}
	return r.Numbers.AppendWide(dst, c.Key, c.Numbers)
}

var fieldsRow = row{
	Row: encode.Row{
		Code:   encoding.Fields,
		Needs:  edition.Only(edition.Fields),
		Trials: encode.Once(encoding.Balanced, encoding.MinimalCompression, encoding.HighCompression, encoding.MinimalSize),
		Suits: func(w *encode.Workspace, in *encode.Input, _ *encode.Learned) bool {
			return in.Fixed == 0 && in.N >= minFields && w.Fields.Suits(in.Data, in.Offsets)
		},
		Append: appendFields,
		Cost:   encode.DecodeCost{PerByte: 180, PerStored: 200, PerValue: 20000},
		Long:   true,
		Nests:  true,
		Whole:  true,
		Parts:  []string{"Plain", "Plain", "Plain", "Plain", "Plain"}, // patterns, places, codes, numbers, texts
	},
	parse:    parseFields,
	put32:    putFields[int32],
	put64:    putFields[int64],
	rangeLen: fieldsLen,
	begins:   fieldsBegin,
	find:     findInFields,
	describe: describeFields,
}

// minFields is how many values are worth learning patterns of.
const minFields = 64

func describeFields(d *describer) {
	columns := make([][]byte, min(d.Uint(2, "columns"), d.Left()/fields.HeaderLen+1))
	count := int(min(d.Uint(4, "patterns"), uint64(d.n)))
	places := int(d.Uint(4, "places"))
	d.Uint(4, "values size")
	patterns, placesSize, codes := d.Uint(4, "patterns size"), d.Uint(4, "places size"), d.Uint(4, "codes size")
	d.Bytes(4, "zeros")
	for i := range columns {
		d.Number(fields.HeaderLen, fmt.Sprintf("header of column %d", i), func(b []byte) string {
			columns[i] = b
			return ""
		})
	}
	d.Pad()
	d.texts("patterns", patterns, count)
	d.Pad()
	d.numbers("places", placesSize, numeric.U32, count+2*places)
	d.numbers("codes", codes, numeric.U32, d.n)
	for i, header := range columns {
		if d.Node.Err == nil {
			d.fieldColumn(fmt.Sprintf("column %d", i), header)
			d.Pad()
		}
	}
}

// fieldColumn adds a column of fields.
func (d *describer) fieldColumn(name string, header []byte) {
	h, width := fields.ReadHeader(header)
	var groups [fields.MaxGroups]fields.Group
	part := d.Next(h.Size)
	rest, err := h.ReadForm(width, part, groups[:])
	if len(part) < h.Size {
		err = fault.Corruptf("%d bytes of %d", len(part), h.Size)
	}
	if err != nil {
		d.Fail(fault.In(err, name, -1))
		return
	}
	d.Bytes(uint64(h.Size-len(rest)), name+": groups of digits")
	switch size := uint64(len(rest)); h.Word {
	case 4:
		d.numbers(name, size, numeric.U32, h.Count)
	case 8:
		d.numbers(name, size, numeric.U64, h.Count)
	default:
		d.texts(name, size, h.Count)
	}
}
