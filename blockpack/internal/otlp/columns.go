package otlp

import (
	"math"

	"github.com/amudai/amudai-go/blockpack/internal/column"
	"github.com/amudai/amudai-go/internal/base/bitmap"
	"github.com/amudai/amudai-go/internal/base/distinct"
	"github.com/amudai/amudai-go/internal/base/fault"
)

// definition is what a column is in all blocks.
type definition struct {
	b        *Builder
	name     string
	typ      column.Type
	interned bool // values are, until they are spread
	single   bool // values are added to one row each, by addBytes

	always bool // each span has a value, which may be zero
	idLen  int  // bytes of ids; 0 if values are none
}

// columnBuilder collects the values of a column. Rows are added in ascending order.
type columnBuilder struct {
	definition
	n       int    // rows with a value
	sparse  bool   // a row without a value lies before one with a value; otherwise it is the first n rows that have values
	present []byte // if sparse
	numbers []uint64
	codes   []uint32
	values  distinct.Set // by code
	spread  bool         // not interned any more, as hardly any value was there twice
	offsets []uint32     // of values that are not interned
	data    []byte
}

// set adds a value to rows from row up to end.
func (c *columnBuilder) set(row, end int) error {
	if c.n == 0 {
		if c.b.used >= c.b.o.MaxColumns {
			return ErrTooManyColumns
		}
		c.b.used++
	}
	if !c.sparse {
		if c.n == row {
			c.n = end
			return nil
		}
		c.sparse = true
		c.present = setBits(c.present[:0], 0, c.n)
	}
	c.present = setBits(c.present, row, end)
	c.n += end - row
	return nil
}

// setBits sets bits of a bitmap, whose other bits from there on are clear or do not exist.
func setBits(b []byte, from, to int) []byte {
	for len(b) < (to+7)/8 {
		b = append(b, 0)
	}
	if to-from == 1 {
		b[from>>3] |= 1 << (from & 7)
	} else {
		bitmap.SetRange(b, from, to-from)
	}
	return b
}

// addNumber adds a number, or the code of an interned value, to rows.
func (c *columnBuilder) addNumber(v uint64, row, end int) error {
	if err := c.set(row, end); err != nil {
		return err
	}
	if c.interned {
		for ; row < end; row++ {
			c.codes = append(c.codes, uint32(v))
		}
		return nil
	}
	for ; row < end; row++ {
		c.numbers = append(c.numbers, v)
	}
	return nil
}

// addBytes adds a value to rows of a column of strings or bytes: to a single one unless values are interned.
func (c *columnBuilder) addBytes(v []byte, row, end int) error {
	c.b.size += len(v)
	if c.coded() {
		code, err := c.intern(v)
		if err != nil {
			return err
		}
		err = c.addNumber(uint64(code), row, end)
		c.spreadIfUnique()
		return err
	}
	if int64(len(c.data))+int64(len(v)) > math.MaxUint32 {
		return c.tooLarge()
	}
	if err := c.set(row, end); err != nil {
		return err
	}
	if len(c.offsets) == 0 {
		c.offsets = append(c.offsets, 0)
	}
	c.data = append(c.data, v...)
	c.offsets = append(c.offsets, uint32(len(c.data)))
	return nil
}

// spreadMin is the number of rows from which on it is looked whether codes pay.
const spreadMin = 1 << 10

// spreadIfUnique ends the interning of strings most of which were added once: a table of 32,000 of them is in no cache, the one of a block of 2,000,
// which the encoder makes anyway, is. Kinds for Bytes are chosen by whether there are codes.
func (c *columnBuilder) spreadIfUnique() {
	if len(c.codes)%spreadMin != 0 || 2*c.values.Len() < len(c.codes) || !c.single || c.typ != column.String {
		return
	}
	c.offsets = append(c.offsets, 0)
	for _, code := range c.codes {
		c.data = append(c.data, c.values.Value(code)...)
		c.offsets = append(c.offsets, uint32(len(c.data)))
	}
	c.codes, c.values, c.spread = nil, distinct.Set{}, true
}

// intern returns the code of a value.
func (c *columnBuilder) intern(v []byte) (uint32, error) {
	if int64(len(c.values.Data()))+int64(len(v)) > math.MaxUint32 {
		return 0, c.tooLarge()
	}
	code, _ := c.values.Add(v)
	return code, nil
}

func (c *columnBuilder) tooLarge() error {
	return fault.InColumn(fault.Limitf("values of a block take more than 4 GiB"), c.name)
}

func (c *columnBuilder) bytes() int {
	return len(c.present) + 8*len(c.numbers) + 4*len(c.codes) + 4*len(c.offsets) + len(c.data) + 4*c.values.Len() + len(c.values.Data())
}

// before is the number of values of the first rows.
func (c *columnBuilder) before(rows int) int {
	if !c.sparse {
		return min(c.n, rows)
	}
	return bitmap.Bits{Data: c.present, Len: min(rows, 8*len(c.present))}.Count()
}

// cut keeps the values of the first rows.
func (c *columnBuilder) cut(rows int) {
	n := c.before(rows)
	if n == c.n {
		return
	}
	c.n = n
	if c.sparse {
		c.present = c.present[:min(len(c.present), (rows+7)/8)]
		if rows&7 != 0 && len(c.present) == (rows+7)/8 {
			c.present[rows>>3] &= 1<<(rows&7) - 1
		}
		c.sparse = n > 0
	}
	switch {
	case !c.textual():
		c.numbers = c.numbers[:n]
	case c.coded():
		c.codes = c.codes[:n]
	case n == 0:
		c.offsets, c.data = c.offsets[:0], c.data[:0]
	default:
		c.offsets = c.offsets[:n+1]
		c.data = c.data[:c.offsets[n]]
	}
}

// coded tells whether rows have codes of values.
func (c *columnBuilder) coded() bool { return c.interned && !c.spread }

func (c *columnBuilder) textual() bool { return c.typ == column.String || c.typ == column.Bytes }

// column hands the values over as a column of rows rows, and leaves none. unused tells that some interned values may have no row.
func (c *columnBuilder) column(rows int, unused bool) *column.Column {
	defer func() {
		*c = columnBuilder{definition: c.definition}
	}()
	out := &column.Column{Name: c.name, Type: c.typ, Rows: rows}
	if c.n < rows {
		if !c.sparse {
			c.present = setBits(nil, 0, c.n)
		}
		for len(c.present) < (rows+7)/8 {
			c.present = append(c.present, 0)
		}
		out.Present = c.present
	}
	switch {
	case !c.textual():
		out.Values.Numbers = c.numbers
	case !c.coded():
		out.Values.Offsets, out.Values.Data = c.offsets, c.data
	default:
		out.Codes, out.Values.Offsets, out.Values.Data = c.codes, make([]uint32, c.values.Len()+1), c.values.Data()
		for k := range c.values.Len() {
			out.Values.Offsets[k+1] = uint32(c.values.End(uint32(k)))
		}
		if unused {
			r := recoder{out, make([]uint32, out.Values.Len())}
			out.Codes, out.Values = r.recode(c.codes)
		}
		dropCodes(out)
	}
	return out
}

// dropCodes drops codes that tell nothing: those of values that all are different.
func dropCodes(c *column.Column) {
	if len(c.Codes) != c.Values.Len() {
		return
	}
	for i, code := range c.Codes {
		if code != uint32(i) {
			return
		}
	}
	c.Codes = nil
}
