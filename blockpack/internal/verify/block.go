package verify

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/amudai/amudai-go/blockpack/internal/column"
	"github.com/amudai/amudai-go/blockpack/internal/layout"
	"github.com/amudai/amudai-go/blockpack/internal/spans"
	"github.com/amudai/amudai-go/internal/base/fault"
	"github.com/amudai/amudai-go/storage"
)

// blockCheck is the check of one block.
type blockCheck struct {
	*checker
	index  int
	entry  *layout.Block
	data   []byte
	head   *layout.BlockHead
	values map[column.Key]*column.Column
}

func (c *checker) block(ctx context.Context, i int) error {
	b := &blockCheck{checker: c, index: i, entry: &c.meta.Blocks[i], values: map[column.Key]*column.Column{}}
	if !b.entry.HasSpans() {
		c.unchecked(fmt.Errorf("block %d, which is of the unknown kind %d", i, b.entry.Kind))
		return nil
	}
	var err error
	if b.data, err = storage.ReadRange(ctx, c.reader, b.entry.Offset, b.entry.Length); err != nil {
		return b.failed(err)
	}
	if b.head, _, err = layout.ParseBlockHead(b.data, b.entry.Offset, b.entry.Length); err != nil {
		return b.failed(err)
	}
	c.Count("block", 1)
	for _, check := range []func() error{
		b.checkHead, b.checkExtents, b.checkColumns, b.checkTraceTable, b.checkStarts, b.checkTraces, b.checkValueStats, b.checkNames, b.addSummaries,
	} {
		if err := check(); err != nil {
			return err
		}
		if err := ctx.Err(); err != nil {
			return err
		}
	}
	return nil
}

// failed reports a problem of the block.
func (b *blockCheck) failed(err error) error { return b.problem(fault.InStripe(err, b.index)) }

// wrong reports an index that contradicts the block.
func (b *blockCheck) wrong(index, format string, args ...any) error {
	return b.contradiction(fault.InStripe(fault.In(fault.Corruptf(format, args...), index, -1), b.index))
}

func (b *blockCheck) checkHead() error {
	if b.head.Spans != b.entry.Spans {
		return b.failed(fault.In(fault.Corruptf("%d spans, and %d in the block index", b.head.Spans, b.entry.Spans), "block head", b.entry.Offset))
	}
	seen := map[column.Key]bool{}
	for i := range b.head.Columns {
		c := &b.head.Columns[i]
		k := c.Key()
		if seen[k] {
			err := fault.In(fault.Corruptf("two columns %q of type %v", c.Name, c.Type), "block head", b.entry.Offset)
			if err := b.failed(err); err != nil {
				return err
			}
		}
		seen[k] = true
	}
	return nil
}

// checkExtents compares the column index with the head of the block, and looks for columns that share bytes.
func (b *blockCheck) checkExtents() error {
	byOffset := slices.Clone(b.head.Columns)
	byOffset = slices.DeleteFunc(byOffset, func(c layout.BlockColumn) bool { return c.Length == 0 })
	slices.SortFunc(byOffset, func(a, b layout.BlockColumn) int { return cmp.Compare(a.Offset, b.Offset) })
	end := b.head.Size
	for _, c := range byOffset {
		if c.Offset < end {
			err := fault.InColumn(fault.In(fault.Corruptf("its data begin at %d, before %d", c.Offset, end), "block head", b.entry.Offset), c.Name)
			if err := b.failed(err); err != nil {
				return err
			}
		}
		end = max(end, c.Offset+c.Length)
	}
	extents, err := b.meta.Columns.Block(b.index)
	if err != nil {
		return b.failed(err)
	}
	if len(extents) == 0 {
		return nil
	}
	order := func(a, b layout.ColumnExtent) int {
		return cmp.Or(cmp.Compare(a.Offset, b.Offset), strings.Compare(a.Name, b.Name))
	}
	slices.SortFunc(extents, order)
	want := layout.ExtentsOf(byOffset)
	slices.SortFunc(want, order)
	if !slices.Equal(extents, want) {
		return b.wrong("column index", "the extents of %d columns are not those of the %d columns in the head of the block", len(extents), len(want))
	}
	return nil
}

// checkColumns decodes all columns, and compares their statistics and the range index.
func (b *blockCheck) checkColumns() error {
	for i := range b.head.Columns {
		c := &b.head.Columns[i]
		if c.Length == 0 {
			continue // in the trace table
		}
		data := b.data[c.Offset : c.Offset+c.Length]
		var notes []error
		values, err := column.Decode(data, c.Name, c.Type.Base(), b.head.Spans, column.DecodeOptions{
			UUID: b.uuidHint(i), Warn: func(err error) { notes = append(notes, err) },
		})
		for _, n := range notes {
			b.note(b.at(n, c))
		}
		if err != nil {
			if err := b.failed(b.at(err, c)); err != nil {
				return err
			}
			b.unchecked(fmt.Errorf("column %q of block %d, which cannot be decoded", c.Name, b.index))
			continue
		}
		if err := b.checkColumn(i, values); err != nil {
			return err
		}
	}
	b.lock.Lock()
	defer b.lock.Unlock()
	b.survey.Add(slices.Collect(maps.Values(b.values)))
	return nil
}

// at adds the place of a column to an error about its data.
func (b *blockCheck) at(err error, c *layout.BlockColumn) error {
	err = fault.Shift(err, b.entry.Offset+c.Offset)
	if known, ok := err.(*fault.Error); !ok || known.Column == "" {
		err = fault.InColumn(err, c.Name)
	}
	return fault.InStripe(err, b.index)
}

func (b *blockCheck) checkColumn(i int, values *column.Column) error {
	c := &b.head.Columns[i]
	b.values[c.Key()] = values
	b.Count("column", 1)
	b.Count("value", int64(values.PresentCount()))
	d := digest(values)
	if err := b.checkStats(i, d); err != nil {
		return err
	}
	if err := b.checkRanges(c, d); err != nil {
		return err
	}
	if d.notUTF8 {
		b.note(fault.InStripe(fault.InColumn(fmt.Errorf("some strings are not UTF-8"), c.Name), b.index))
	}
	if _, ok := b.listed[c.Key()]; !ok && b.listed != nil {
		return b.wrong("range index", "the list of the columns of the file lacks %q of type %v", c.Name, c.Type)
	}
	return nil
}

func (b *blockCheck) stats(i int) (layout.ColumnStats, error) {
	c := &b.head.Columns[i]
	return layout.ParseColumnStats(b.data[c.StatsOffset:c.StatsOffset+c.StatsLength], c.Type)
}

func (b *blockCheck) uuidHint(i int) column.UUIDHint {
	if b.own {
		return column.UUIDPlain
	}
	s, _ := b.stats(i) // nothing is known after an error, which checkStats reports
	return s.UUIDHint(b.head.Columns[i].Type)
}

// checkStats compares the bounds of a column with its values.
func (b *blockCheck) checkStats(i int, d *digested) error {
	c := &b.head.Columns[i]
	s, err := b.stats(i)
	if err != nil {
		return b.failed(b.at(fault.Shift(err, c.StatsOffset-c.Offset), c))
	}
	element := fmt.Sprintf("stats of column %q", c.Name)
	switch {
	case s.Empty && d.present > 0:
		return b.wrong(element, "they say that there are no values, of which there are %d", d.present)
	case !s.Known || len(d.distinct) == 0:
		return nil
	}
	lo, hi := d.distinct[0], d.distinct[len(d.distinct)-1]
	if s.Min.Compare(lo) > 0 || s.Max.Compare(hi) < 0 {
		return b.wrong(element, "they are %v to %v, the values %v to %v", s.Min, s.Max, lo, hi)
	}
	if b.own && (s.Min.Compare(lo) != 0 || s.Max.Compare(hi) != 0) {
		return b.wrong(element, "they are %v to %v, wider than the values, %v to %v", s.Min, s.Max, lo, hi)
	}
	return nil
}

// digested is what checks need of the values of a column.
type digested struct {
	present  int            // rows with a value
	distinct []column.Value // ascending, without NaNs
	notUTF8  bool
}

func digest(c *column.Column) *digested {
	d := &digested{present: c.PresentCount()}
	used := make([]bool, c.Values.Len())
	if c.Codes == nil {
		for i := range used {
			used[i] = true
		}
	}
	for _, k := range c.Codes {
		used[k] = true
	}
	for k, u := range used {
		if !u {
			continue
		}
		v := c.ValueAt(k)
		if !v.IsNaN() {
			d.distinct = append(d.distinct, v)
		}
		d.notUTF8 = d.notUTF8 || c.Type == column.String && !utf8.Valid(v.Data)
	}
	slices.SortFunc(d.distinct, column.Value.Compare)
	d.distinct = slices.CompactFunc(d.distinct, func(a, b column.Value) bool { return a.Compare(b) == 0 })
	return d
}

// checkTraceTable compares the table of traces with the ids of rows, or decodes its columns.
func (b *blockCheck) checkTraceTable() error {
	offset, length := b.head.TraceTable()
	if length == 0 {
		return nil
	}
	t, err := layout.ParseTraceTable(b.data[offset:offset+length], b.head)
	if err != nil {
		return b.failed(err)
	}
	for k := range t.Columns {
		c := &t.Columns[k]
		if _, err := column.Decode(c.Data, c.Name, c.Type.Base(), b.head.Traces, column.DecodeOptions{}); err != nil {
			err = fault.InStripe(fault.In(fault.Shift(err, b.entry.Offset+c.Offset), "trace table", b.entry.Offset+offset), b.index)
			if err := b.problem(err); err != nil {
				return err
			}
		}
	}
	ids := b.rowIDs()
	for _, t := range t.Traces {
		for k := range t.Rows.Len() {
			if row := t.Rows.At(k); ids != nil && ids[row] != t.ID {
				return b.failed(fault.In(fault.Corruptf("row %d is of trace %x, not of %x", row, ids[row], t.ID), "trace table", b.entry.Offset+offset))
			}
		}
	}
	return nil
}

// rowIDs are the ids of the traces of all rows, zeros for those that are not of 16 bytes; nil if they cannot be decoded.
func (b *blockCheck) rowIDs() []layout.TraceID {
	c := b.values[column.Key{Name: spans.TraceID, Type: column.Bytes}]
	if c == nil {
		return nil
	}
	ids := make([]layout.TraceID, c.Rows)
	for row, v := range c.Each() {
		if v := c.Values.Bytes(v); len(v) == len(layout.TraceID{}) {
			ids[row] = layout.TraceID(v)
		}
	}
	return ids
}

// checkStarts compares the bounds of starts in the block index.
func (b *blockCheck) checkStarts() error {
	c := b.values[column.Key{Name: spans.Start, Type: column.Uint64}]
	if c == nil || c.PresentCount() == 0 {
		return nil
	}
	lo, hi := ^uint64(0), uint64(0)
	for _, v := range c.Each() {
		lo, hi = min(lo, c.Values.Numbers[v]), max(hi, c.Values.Numbers[v])
	}
	if !b.entry.MayStart(lo, lo) || !b.entry.MayStart(hi, hi) || b.own && (b.entry.MinStart != lo || b.entry.MaxStart != hi) {
		return b.wrong("block index", "starts are %d to %d, those of spans %d to %d", b.entry.MinStart, b.entry.MaxStart, lo, hi)
	}
	return nil
}

// checkValueStats compares the bounds of values in the block index.
func (b *blockCheck) checkValueStats() error {
	for s := range b.entry.Values.All() {
		if !s.Known {
			continue
		}
		c := b.values[column.Key{Name: s.Name, Type: s.Min.Type}]
		if c == nil {
			continue
		}
		d := digest(c)
		if n := len(d.distinct); n > 0 && (s.Min.Compare(d.distinct[0]) > 0 || s.Max.Compare(d.distinct[n-1]) < 0) {
			return b.wrong("block index", "values of %q are %v to %v, those of spans %v to %v", s.Name, s.Min, s.Max, d.distinct[0], d.distinct[n-1])
		}
	}
	return nil
}

// checkNames compares the Bloom filter of names.
func (b *blockCheck) checkNames() error {
	names := b.head.Names()
	b.meta.Calibrate(b.index, names)
	for _, name := range names {
		if !b.meta.MayHaveColumn(b.index, name) {
			return b.wrong("block index", "the filter of names excludes %q, a column of the block", name)
		}
	}
	return nil
}

// checkTraces compares the bounds of ids in the block index, and both trace indexes.
func (b *blockCheck) checkTraces() error {
	ids := b.rowIDs()
	if len(ids) == 0 {
		return nil
	}
	rows := map[layout.TraceID][]int{}
	lo, hi := ids[0], ids[0]
	for row, id := range ids {
		rows[id] = append(rows[id], row)
		if bytes.Compare(id[:], lo[:]) < 0 {
			lo = id
		}
		if bytes.Compare(id[:], hi[:]) > 0 {
			hi = id
		}
	}
	if !b.entry.MayHaveTrace(lo) || !b.entry.MayHaveTrace(hi) || b.own && (b.entry.MinTrace != lo || b.entry.MaxTrace != hi) {
		if err := b.wrong("block index", "trace ids are %x to %x, those of spans %x to %x", b.entry.MinTrace, b.entry.MaxTrace, lo, hi); err != nil {
			return err
		}
	}
	b.Count("trace reference", int64(len(rows)))
	if b.meta.TracesComplete {
		if err := b.checkTraceIndex(b.meta.Traces, "trace index", rows); err != nil {
			return err
		}
	}
	if b.compact != nil && b.meta.TracesComplete {
		return b.checkTraceIndex(b.compact.Traces, "compact index", rows)
	}
	return nil
}

// checkTraceIndex looks up the traces of the block.
func (b *blockCheck) checkTraceIndex(x *layout.TraceIndex, name string, rows map[layout.TraceID][]int) error {
	if x.Len() == 0 && !b.own {
		return nil // there is none
	}
	var found []layout.TraceBlock
	for id, want := range rows {
		found = x.Lookup(found[:0], id)
		i := slices.IndexFunc(found, func(t layout.TraceBlock) bool { return t.Block == b.index })
		if i < 0 {
			return b.wrong(name, "trace %x has no entry for the block, where it has %d spans", id, len(want))
		}
		if x.HasRows() && !sameRows(found[i].Rows, want) {
			return b.wrong(name, "trace %x has %d rows in the index, which are not its %d rows in the block", id, found[i].Rows.Len(), len(want))
		}
	}
	return nil
}

func sameRows(have layout.Rows, want []int) bool {
	if have.Len() != len(want) {
		return false
	}
	for i, row := range want {
		if have.At(i) != row {
			return false
		}
	}
	return true
}
