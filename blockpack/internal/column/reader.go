package column

import (
	"fmt"
	"slices"

	"github.com/amudai/amudai-go/blockpack/internal/fields"
	"github.com/amudai/amudai-go/internal/base/fault"
	"github.com/amudai/amudai-go/internal/base/scratch"
)

// EncodingVersion is the first byte of a column.
const EncodingVersion = 2

// Reader reads the parts of a column. It uses the memory of its [Decoder]: readers of one decoder must not be used
// concurrently. What its methods return is memory of its own.
type Reader struct {
	d        *Decoder
	o        DecodeOptions // with all limits
	name     string
	typ      Type // String to Bytes
	kind     Kind
	rows     int
	presence presence

	width  int     // of an index in bytes
	base   uint64  // of offsets
	first  section // the compressed dictionary, offsets, XOR payload or prefixes
	second section // indexes, runs of indexes, compressed deltas or suffixes; inline values

	packedUUID bool // known once the values or the dictionary were decoded
}

// parse parses the parts of data.
func (r *Reader) parse(c *fields.Cursor) {
	if v := c.U8("encoding version"); v != EncodingVersion {
		c.Refuse(1, "", fault.Unsupportedf("column encoding version %d", v))
	}
	if b := c.Take("encoding kind", 1); b != nil {
		r.kind = Kind(b[0])
		c.Note(1, "kind", r.kind)
	}
	if !r.kind.Valid() {
		c.Refuse(1, "", fault.Unsupportedf("column encoding %s", r.kind))
	} else if !r.kind.holds(r.typ) {
		c.Refuse(1, "", fault.Corruptf("%s column in encoding %s", r.typ, r.kind))
	}
	if c.Err != nil {
		return
	}
	switch r.kind {
	default:
		r.parseCoded(c)
	case InlineBytes, SparseInlineBytes:
		r.parseInline(c)
	case DeltaUint64:
		r.parseDelta(c)
	case XORBytes, SparseXORBytes:
		r.parseXOR(c)
	case PrefixBytes, SparsePrefixBytes:
		r.parsePrefix(c)
	}
	if c.Err == nil && c.Left() > 0 {
		r.warn(fault.In(fault.Corruptf("%d bytes follow the data of the column", c.Left()), "", c.Offset()))
	}
}

// Parts lists the parts of the data of a column, up to the first that is not right, and up to a number.
func Parts(data []byte, t Type, rows, limit int) []fields.Part {
	c := &fields.Cursor{Data: data, Parts: &fields.Parts{Limit: limit}}
	r := Reader{typ: t.Base(), rows: rows}
	r.parse(c)
	list := c.Parts.List
	end := 0
	for _, p := range list {
		end = p.Offset + p.Size
	}
	if end < len(data) {
		list = append(list, fields.Part{Offset: end, Size: len(data) - end, Text: fmt.Sprint(len(data)-end, " bytes")})
	}
	return list
}

// holds tells whether columns of a type are read in a kind. Strings may be in kinds for bytes: packed UUIDs are.
func (k Kind) holds(t Type) bool {
	switch k {
	case Dictionary, SparseDictionary, RLEIndexes, SparseRLEIndexes:
		return true
	case DeltaUint64:
		return t == Uint64 || t == Int64 // Int64: durations may have a Range type of their own
	}
	return t.Textual()
}

// parsePresence parses the number of rows and the presence.
func (r *Reader) parsePresence(c *fields.Cursor) {
	if rows := c.U32("row count"); uint64(rows) != uint64(r.rows) {
		c.Refuse(4, "row count", fault.Corruptf("%d rows in a block of %d", rows, r.rows))
	}
	s := block(c, "presence")
	if c.Err == nil {
		r.presence, c.Err = parsePresence(s, r.rows, r.warn)
	}
	if c.Parts != nil && c.Err == nil {
		r.presence.runs.list(c)
	}
}

// presentCount parses the number of rows with a value, which must be that of the presence.
func (r *Reader) presentCount(c *fields.Cursor) {
	if n := c.U32("present count"); uint64(n) != uint64(r.presence.count) {
		c.Refuse(4, "present count", fault.Corruptf("%d values for %d rows with a value", n, r.presence.count))
	}
}

// Kind is how the column is stored.
func (r *Reader) Kind() Kind { return r.kind }

// Present is the bitmap of rows with a value, as in [Column]. nil: every row has one.
func (r *Reader) Present() []byte { return r.presence.bitmap() }

// PresentCount is the number of rows with a value.
func (r *Reader) PresentCount() int { return r.presence.count }

// Coded tells whether the column is stored as a dictionary and codes: in the kinds 1, 2, 6, 7, 12 and 13.
func (r *Reader) Coded() bool {
	switch r.kind {
	case InlineBytes, SparseInlineBytes, DeltaUint64, XORBytes, SparseXORBytes, PrefixBytes, SparsePrefixBytes:
		return false
	}
	return true
}

// Column decodes all rows. Codes is nil unless the column is [Reader.Coded].
func (r *Reader) Column() (*Column, error) {
	c := &Column{Name: r.name, Type: r.typ, Rows: r.rows, Present: r.presence.bitmap()}
	var err error
	if r.Coded() {
		if c.Values, err = r.dictionary(nil); err == nil {
			c.Codes, err = r.indexes(c.Values.Len())
		}
	} else {
		c.Values, err = r.values(nil)
	}
	if err != nil {
		return nil, r.in(err)
	}
	r.unpackUUIDs(&c.Values)
	c.PackedUUID = r.packedUUID
	return c, nil
}

// values decodes the values of ranks, which ascend, or of all present rows if ranks is nil.
func (r *Reader) values(ranks []int) (v Values, err error) {
	switch r.kind {
	case DeltaUint64:
		return r.deltaValues(ranks)
	case PrefixBytes, SparsePrefixBytes:
		return r.prefixValues(ranks)
	case InlineBytes, SparseInlineBytes:
		v, err = r.inlineValues()
	case XORBytes, SparseXORBytes:
		v, err = r.xorValues()
	default:
		if v, err = r.dictionary(r.d.first); err != nil {
			return Values{}, err
		}
		r.d.first = v.Data
		codes, err := r.indexes(v.Len())
		if err != nil {
			return Values{}, err
		}
		for i, rank := range ranks {
			ranks[i] = int(codes[rank])
		}
	}
	if err != nil || ranks == nil {
		return v, err
	}
	return Pick(&v, ranks), nil
}

// Take decodes rows, which ascend: row i of the result is rows[i]. It is for few rows: what is not needed for them may be
// neither decoded nor checked. Codes of the result is nil.
func (r *Reader) Take(rows []int) (*Column, error) {
	for i, row := range rows {
		if row < 0 || row >= r.rows || i > 0 && row <= rows[i-1] {
			return nil, r.in(fault.Corruptf("row %d of %d", row, r.rows))
		}
	}
	c := &Column{Name: r.name, Type: r.typ, Rows: len(rows)}
	ranks := scratch.Slice(&r.d.ranks, len(rows))
	r.presence.findRanks(ranks, rows)
	if slices.Contains(ranks, -1) {
		c.Present = make([]byte, (len(rows)+7)/8)
		n := 0
		for i, rank := range ranks {
			if rank >= 0 {
				c.Present[i/8] |= 1 << (i % 8)
				ranks[n] = rank
				n++
			}
		}
		ranks = ranks[:n]
	}
	if len(ranks) == 0 {
		if r.typ.Textual() {
			c.Values.Offsets = []uint32{0}
		}
		return c, nil
	}
	var err error
	if c.Values, err = r.values(ranks); err != nil {
		return nil, r.in(err)
	}
	if r.typ == String && r.o.UUID != UUIDPlain && allPacked(&c.Values) {
		return r.takeUUIDs(c, rows)
	}
	return c, nil
}

// takeUUIDs gives c, some rows, with UUIDs in text if the whole column says that they are packed.
func (r *Reader) takeUUIDs(c *Column, rows []int) (*Column, error) {
	all, err := r.Column()
	if err != nil || !all.PackedUUID {
		return c, err
	}
	var values []int
	of := all.ByRow()
	for _, row := range rows {
		if of[row] >= 0 {
			values = append(values, int(of[row]))
		}
	}
	c.PackedUUID, c.Values = true, Pick(&all.Values, values)
	return c, nil
}

// warn passes on a note.
func (r *Reader) warn(err error) {
	if r.o.Warn != nil {
		r.o.Warn(r.in(err))
	}
}

// in adds the column to err.
func (r *Reader) in(err error) error { return fault.InColumn(err, r.name) }
