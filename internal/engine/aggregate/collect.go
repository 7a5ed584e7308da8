package aggregate

import (
	"math"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/decimal128"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/amudai/amudai-go/internal/arrow/arrowutil"
	"github.com/amudai/amudai-go/internal/base/fault"
	"github.com/amudai/amudai-go/internal/engine/aggregate/internal/column"
	"github.com/amudai/amudai-go/internal/engine/aggregate/internal/keys"
	"github.com/amudai/amudai-go/internal/engine/aggregate/internal/ranks"
	"github.com/amudai/amudai-go/internal/text/values"
)

// collected has all values of each group: for medians, and lists.
type collected struct {
	mem    memory.Allocator
	name   string
	limit  int64
	groups []uint32 // of each value
	chunks []arrow.Array
	bytes  int64 // of chunks
	n      int   // greatest group
	taken  []int64

	// After finish:
	all  arrow.Array
	rows []int64 // of all, in the order of groups
	ends []int64 // in rows, of each group
}

func (c *collected) grow(groups int) { c.n = groups }
func (c *collected) size() int64     { return c.bytes + int64(4*cap(c.groups)) }

func (c *collected) release() {
	arrowutil.ReleaseAll(c.chunks)
	arrowutil.ReleaseAll([]arrow.Array{c.all})
	c.chunks, c.all = nil, nil
}

func (c *collected) add(groups []uint32, arg *argument) error {
	c.taken = c.taken[:0]
	for i, g := range groups {
		if g != keys.None {
			c.taken = append(c.taken, int64(i))
			c.groups = append(c.groups, g)
		}
	}
	if len(c.taken) == 0 {
		return nil
	}
	chunk, err := arrowutil.Take(c.mem, arg.column.Array, c.taken)
	if err != nil {
		return err
	}
	c.chunks = append(c.chunks, chunk)
	c.bytes += column.SizeOf(chunk)
	if c.size() > c.limit {
		return fault.Limitf("%s keeps all values, which take more memory than allowed", c.name)
	}
	return nil
}

// finish sorts the values by group. Those of a group keep their order.
func (c *collected) finish() error {
	c.ends = make([]int64, c.n+2)
	if c.rows = []int64{}; len(c.chunks) == 0 {
		return nil
	}
	var err error
	if c.all, err = arrowutil.Concatenate(c.mem, c.chunks); err != nil {
		return err
	}
	arrowutil.ReleaseAll(c.chunks)
	c.chunks = nil
	for _, g := range c.groups {
		c.ends[g+1]++
	}
	for g := 1; g < len(c.ends); g++ {
		c.ends[g] += c.ends[g-1]
	}
	c.rows = make([]int64, len(c.groups))
	for i, g := range c.groups {
		c.rows[c.ends[g]] = int64(i)
		c.ends[g]++
	}
	c.groups = nil
	return nil
}

// of are the rows of a group.
func (c *collected) of(group int) []int64 { return c.rows[c.ends[group-1]:c.ends[group]] }

// list makes lists of the values of groups, null for a group without any.
func (c *collected) list(from, to int, dt arrow.DataType) (arrow.Array, error) {
	offsets := arrowutil.NewBuffer(c.mem, 4*(to-from+1))
	ends := arrowutil.As[int32](offsets.Bytes())
	base := c.ends[from-1]
	valid := make([]bool, to-from)
	ends[0] = 0
	for i := range valid {
		n := c.ends[from+i] - base
		if n > math.MaxInt32 {
			offsets.Release()
			return nil, fault.Limitf("%s has more than %d values", c.name, math.MaxInt32)
		}
		ends[i+1] = int32(n)
		valid[i] = ends[i+1] > ends[i]
	}
	bits, nulls := column.Validity(c.mem, valid)
	var child arrow.Array
	var err error
	if c.all != nil {
		child, err = c.take(c.rows[base:c.ends[to-1]], dt)
	}
	if child == nil || err != nil {
		offsets.Release()
		return nil, err
	}
	defer child.Release()
	child.Data().Retain()
	return arrowutil.Make(arrow.ListOf(dt), to-from, []*memory.Buffer{bits, offsets}, []arrow.ArrayData{child.Data()}, nulls), nil
}

// take returns values of a type that may be wrapped.
func (c *collected) take(rows []int64, dt arrow.DataType) (arrow.Array, error) {
	plain, err := arrowutil.Take(c.mem, c.all, rows)
	if err != nil {
		return nil, err
	}
	defer plain.Release()
	return arrowutil.Wrap(c.mem, plain, dt)
}

// join makes texts of the values of groups, null for a group without any.
func (c *collected) join(from, to int, separator string) (arrow.Array, error) {
	if c.all == nil {
		return nil, nil
	}
	b := array.NewStringBuilder(c.mem)
	defer b.Release()
	text := values.Text(c.all)
	var joined []byte
	for g := from; g < to; g++ {
		rows := c.of(g)
		if len(rows) == 0 {
			b.AppendNull()
			continue
		}
		joined = joined[:0]
		for k, row := range rows {
			if k > 0 {
				joined = append(joined, separator...)
			}
			if joined = text(joined, int(row)); int64(len(joined)) > c.limit {
				return nil, fault.Limitf("%s is a text that takes more memory than allowed", c.name)
			}
		}
		b.BinaryBuilder.Append(joined)
	}
	return b.NewArray(), nil
}

// discrete returns the value at a quantile of each group, null for a group without any.
func (c *collected) discrete(from, to int, q float64) (arrow.Array, error) {
	if c.all == nil {
		return nil, nil
	}
	rows := make([]int64, to-from)
	ranked, err := ranks.Of(c.mem, c.all)
	if err != nil {
		return nil, err
	}
	for i := range rows {
		rows[i] = -1
		if of := c.of(from + i); len(of) > 0 {
			n := float64(len(of))
			rows[i], _ = ranked(of, max(1, len(of)-int(math.Floor(n-q*n)))-1, false)
		}
	}
	return arrowutil.Take(c.mem, c.all, rows)
}

// continuous returns the quantile of each group, between two values if need be: floats of floats and integers, else numbers
// like the values, cut to whole ones. It is null for a group without values.
func (c *collected) continuous(from, to int, q float64, dt arrow.DataType) (arrow.Array, error) {
	if c.all == nil {
		return nil, nil
	}
	ranked, err := ranks.Of(c.mem, c.all)
	if err != nil {
		return nil, err
	}
	var col column.Column
	if err := col.Load(c.mem, c.all); err != nil {
		return nil, err
	}
	defer col.Release()
	valid := make([]bool, to-from)
	if arrow.IsFloating(dt.ID()) {
		v, out := col.Reals(), make([]int64, to-from)
		for i := range out {
			if of := c.of(from + i); len(of) > 0 {
				rank, part := ranks.Place(len(of), q)
				lo, hi := ranked(of, rank, part > 0)
				valid[i], out[i] = true, column.FloatOrdinal(ranks.Between(v[lo], v[hi], part))
			}
		}
		return column.FromOrdinals(c.mem, dt, out, valid), nil
	}
	v, ok := col.Numbers()
	if !ok {
		return nil, fault.Limitf("%s: a value of more than 128 bits", c.name)
	}
	out := make([]decimal128.Num, to-from)
	for i := range out {
		if of := c.of(from + i); len(of) > 0 {
			rank, part := ranks.Place(len(of), q)
			lo, hi := ranked(of, rank, part > 0)
			valid[i] = true
			out[i] = v[lo].Add(decimal128.FromI64(int64(part * column.FloatOf(v[hi].Sub(v[lo])))))
		}
	}
	return column.FromNumbers(c.mem, dt, out, valid)
}
