// Package merge finds the spans that tables of spans have more than once, and those of some traces.
package merge

import (
	"bytes"
	"cmp"
	"context"
	"slices"
	"sort"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/zeebo/xxh3"

	"github.com/amudai/amudai-go/blockpack/internal/spans"
	"github.com/amudai/amudai-go/internal/base/fault"
	"github.com/amudai/amudai-go/internal/engine/rowset"
	"github.com/amudai/amudai-go/internal/engine/scan"
	"github.com/amudai/amudai-go/internal/engine/table"
)

// ID is what spans are told apart by.
type ID struct {
	Trace [16]byte
	Span  [8]byte
}

// Result are the rows that a merge leaves out.
type Result struct {
	Drop       []rowset.Set // of each table: spans that are equal to one of a table before, or a row before
	Duplicates int64        // rows in Drop
	Conflicts  int64        // other rows that have the ids and the kind of one before
}

// rowBytes is the memory of the search for each row.
const rowBytes = 80

// Duplicates finds rows with the same ids, and compares all of their values. Tables must have binary columns for strings, and numbers for
// times. The search reads the ids as often as memory, in bytes, demands, and the other columns only of rows that share their ids. The two
// ends of a call may share their ids.
func Duplicates(ctx context.Context, tables []table.Table, memory int64) (*Result, error) {
	s := &search{tables: tables, result: &Result{Drop: make([]rowset.Set, len(tables))}}
	for _, t := range tables {
		s.ends = append(s.ends, s.rows+t.NumRows())
		s.rows += t.NumRows()
	}
	s.parts = uint64(s.rows*rowBytes/max(memory, 1)) + 1
	for part := range s.parts {
		if err := s.pass(ctx, part); err != nil {
			return nil, err
		}
	}
	return s.result, nil
}

// search numbers the rows of all tables, one table behind the other.
type search struct {
	tables []table.Table
	ends   []int64 // rows up to the end of each table
	rows   int64
	parts  uint64 // into which rows are divided by the hash of their ids
	result *Result
}

// key is a row, by a hash of its ids.
type key struct {
	hash uint64
	row  int64
}

// found is a row that may share its ids with another one.
type found struct {
	id   ID
	kind int64
	sum  sum
	row  int64
}

// pass looks at one part of the rows.
func (s *search) pass(ctx context.Context, part uint64) error {
	shared, err := s.shared(ctx, part)
	if err != nil || len(shared) == 0 {
		return err
	}
	rows, err := s.read(ctx, shared)
	if err != nil {
		return err
	}
	slices.SortFunc(rows, func(a, b found) int {
		return cmp.Or(compareIDs(a.id, b.id), cmp.Compare(a.kind, b.kind), bytes.Compare(a.sum[:], b.sum[:]), cmp.Compare(a.row, b.row))
	})
	drop := make([][]int64, len(s.tables))
	for i := 1; i < len(rows); i++ {
		switch before := rows[i-1]; {
		case before.id != rows[i].id || before.kind != rows[i].kind:
		case before.sum == rows[i].sum:
			t, row := s.place(rows[i].row)
			drop[t] = append(drop[t], row)
			s.result.Duplicates++
		default:
			s.result.Conflicts++
		}
	}
	for t, rows := range drop {
		slices.Sort(rows)
		s.result.Drop[t] = s.result.Drop[t].Or(rowset.FromRows(rows))
	}
	return nil
}

func compareIDs(a, b ID) int {
	return cmp.Or(bytes.Compare(a.Trace[:], b.Trace[:]), bytes.Compare(a.Span[:], b.Span[:]))
}

// place gives the table of a row, and its number there.
func (s *search) place(row int64) (table int, own int64) {
	table = sort.Search(len(s.ends), func(i int) bool { return s.ends[i] > row })
	if table > 0 {
		row -= s.ends[table-1]
	}
	return table, row
}

// shared gives the rows of a part whose hash another row has, ascending.
func (s *search) shared(ctx context.Context, part uint64) ([]int64, error) {
	var keys []key
	first := int64(0)
	for i, t := range s.tables {
		err := each(ctx, t, scan.Options{Columns: []string{spans.TraceID, spans.SpanID}}, func(batch arrow.RecordBatch, rows []int64) error {
			ids, err := newIDs(batch)
			if err != nil {
				return err
			}
			for k, row := range rows {
				if h := ids.hash(k); h%s.parts == part {
					keys = append(keys, key{h, first + row})
				}
			}
			return nil
		})
		if err != nil {
			return nil, err
		}
		first = s.ends[i]
	}
	slices.SortFunc(keys, func(a, b key) int { return cmp.Or(cmp.Compare(a.hash, b.hash), cmp.Compare(a.row, b.row)) })
	var shared []int64
	for i, k := range keys {
		if i > 0 && keys[i-1].hash == k.hash || i+1 < len(keys) && keys[i+1].hash == k.hash {
			shared = append(shared, k.row)
		}
	}
	slices.Sort(shared)
	return shared, nil
}

// read gives ids and sums of rows.
func (s *search) read(ctx context.Context, rows []int64) ([]found, error) {
	out := make([]found, 0, len(rows))
	first := int64(0)
	for i, t := range s.tables {
		n, _ := slices.BinarySearch(rows, s.ends[i])
		own := make([]int64, n)
		for k, row := range rows[:n] {
			own[k] = row - first
		}
		rows = rows[n:]
		if n > 0 {
			err := each(ctx, t, scan.Options{Rows: ranges(rowset.FromRows(own))}, func(batch arrow.RecordBatch, at []int64) error {
				more, err := summarize(batch)
				for k := range more {
					more[k].row = first + at[k]
				}
				out = append(out, more...)
				return err
			})
			if err != nil {
				return nil, err
			}
		}
		first = s.ends[i]
	}
	return out, nil
}

// Traces gives the rows of some traces in a table, and how many of the traces it has.
func Traces(ctx context.Context, t table.Table, ids [][16]byte) (rows rowset.Set, traces int, err error) {
	wanted := make(map[string]bool, len(ids))
	for _, id := range ids {
		wanted[string(id[:])] = false
	}
	var list []int64
	err = each(ctx, t, scan.Options{Columns: []string{spans.TraceID}}, func(batch arrow.RecordBatch, rows []int64) error {
		value, err := byteValues(batch.Column(0))
		if err != nil {
			return err
		}
		for k, row := range rows {
			id := value(k)
			if seen, ok := wanted[string(id)]; ok {
				list = append(list, row)
				if !seen {
					wanted[string(id)] = true
					traces++
				}
			}
		}
		return nil
	})
	return rowset.FromRows(list), traces, err
}

// Ranges are the rows of a stripe that are not dropped.
func Ranges(s table.Stripe, drop rowset.Set) []rowset.Range {
	all := rowset.Of(rowset.Range{From: s.Position(), To: s.Position() + s.Rows()})
	return ranges(all.Minus(drop))
}

func ranges(s rowset.Set) []rowset.Range { return slices.Collect(s.Ranges()) }

// each scans a table. f gets the row numbers of a batch.
func each(ctx context.Context, t table.Table, o scan.Options, f func(batch arrow.RecordBatch, rows []int64) error) error {
	if t.NumRows() == 0 { // there may be no columns
		return ctx.Err()
	}
	var rows []int64
	for batch, err := range scan.Scan(ctx, t, o) {
		if err != nil {
			return err
		}
		rows = rows[:0]
		for _, r := range batch.RowRanges() {
			for row := r.From; row < r.To; row++ {
				rows = append(rows, row)
			}
		}
		if int64(len(rows)) != batch.NumRows() {
			return fault.Corruptf("a batch of %d rows has %d row numbers", batch.NumRows(), len(rows))
		}
		if err := f(batch, rows); err != nil {
			return err
		}
	}
	return ctx.Err()
}

// ids are the ids of a batch.
type ids struct{ trace, span func(i int) []byte }

func newIDs(batch arrow.RecordBatch) (ids, error) {
	trace, err := byteColumn(batch, spans.TraceID)
	if err != nil {
		return ids{}, err
	}
	span, err := byteColumn(batch, spans.SpanID)
	return ids{trace, span}, err
}

func byteColumn(batch arrow.RecordBatch, name string) (func(i int) []byte, error) {
	c := column(batch, name)
	if c == nil {
		return nil, fault.Corruptf("there is no column %q", name)
	}
	return byteValues(c)
}

// column is a column of a batch, nil if there is none.
func column(batch arrow.RecordBatch, name string) arrow.Array {
	at := batch.Schema().FieldIndices(name)
	if len(at) == 0 {
		return nil
	}
	return batch.Column(at[0])
}

// hash is the same for the same ids, and depends on the length of neither.
func (d ids) hash(i int) uint64 {
	id := d.at(i)
	return xxh3.Hash(append(id.Trace[:], id.Span[:]...))
}

// at are the ids of a row, cut or filled with zeros if they are not as long as ids are.
func (d ids) at(i int) (id ID) {
	copy(id.Trace[:], d.trace(i))
	copy(id.Span[:], d.span(i))
	return id
}
