package order

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"math"
	"slices"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/amudai/amudai-go/internal/arrow/arrowutil"
	"github.com/amudai/amudai-go/internal/base/fault"
	"github.com/amudai/amudai-go/internal/base/seq"
	"github.com/amudai/amudai-go/internal/base/tempfile"
	"github.com/amudai/amudai-go/internal/engine/rowfile"
)

// Options are the options of [NewSorter] and [NewDistinct]. The zero value is the default.
type Options struct {
	Allocator memory.Allocator // default memory.DefaultAllocator
	Memory    int64            // bytes of rows and keys in memory; default 256 MiB, at most 1 GiB. The rest goes to temporary files
	TempDir   string           // of these files; default os.TempDir
	Limit     int64            // of a sorter: the first rows of the result; 0 for all
}

const (
	defaultMemory = 256 << 20
	mostMemory    = 1 << 30  // keeps strings below the 2 GiB that 32-bit offsets allow
	batchBytes    = 4 << 20  // about the size of a batch of the result
	batchRows     = 32 << 10 // most rows of it
	itemBytes     = 32       // what sorting takes for a row beside its key
	spareRows     = 1 << 10  // rows beside those that are wanted, of which a few are sorted at a time
	laterRuns     = 4        // the part of the memory that runs take after the first: rows move within caches then, and a merge is needed anyway
)

func (o Options) withDefaults() Options {
	o.Allocator = cmp.Or(o.Allocator, memory.DefaultAllocator)
	o.Memory = cmp.Or(max(o.Memory, 0), defaultMemory)
	o.Memory = min(o.Memory, mostMemory)
	return o
}

// Sorter sorts rows: Add them, Finish, and read them by Next. Rows of equal keys keep their order. A sorter is used by one
// goroutine. Close releases it in any state.
type Sorter struct {
	schema  *arrow.Schema // of the rows
	o       Options
	encoder *Encoder

	createTemp func(dir string) (rowfile.Temporary, error)

	held      held
	runs      []*run
	threshold []byte // rows from this key on are not among the first ones; nil without a limit, or if it is not known yet

	sorted []item // of held, after Finish without runs
	merge  *merge // after Finish with runs
	left   int64  // rows that Next may return, -1 without a limit
	chunk  int    // rows of the next batch
	ready  []arrow.RecordBatch
}

// run is a sorted part of the rows in a temporary file. Its last column has the keys.
type run struct {
	*rowfile.File
	level int // 0, or how often it was merged
}

const (
	runBatchBytes = 1 << 20 // about the size of a batch in a run
	mostRuns      = 64      // that are merged at a time
)

func createTemp(dir string) (rowfile.Temporary, error) { return tempfile.Create(dir) }

// NewSorter returns a sorter for rows of a schema.
func NewSorter(schema *arrow.Schema, keys []Key, o Options) (*Sorter, error) {
	e, err := NewEncoder(keys)
	if err != nil {
		return nil, err
	}
	return &Sorter{schema: schema, o: o.withDefaults(), encoder: e, createTemp: createTemp}, nil
}

// Add adds the rows of a batch. keys has the values of the keys, an array each with as many values as the batch has rows. The
// sorter retains arrays, whose memory must not change.
func (s *Sorter) Add(ctx context.Context, batch arrow.RecordBatch, keys []arrow.Array) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if s.threshold != nil {
		return s.addFirst(ctx, batch, keys)
	}
	if n := int64(s.mostHeld() - s.held.rows); s.o.Limit > 0 && n < batch.NumRows() {
		if err := s.addPart(ctx, batch, keys, 0, n); err != nil {
			return err
		}
		return s.addPart(ctx, batch, keys, n, batch.NumRows()) // most of which the threshold of the first rows excludes
	}
	s.encoder.appendKeys(&s.held.keys, keys, int(batch.NumRows()))
	return s.hold(ctx, batch.Columns(), int(batch.NumRows()))
}

// addPart adds some rows of a batch.
func (s *Sorter) addPart(ctx context.Context, batch arrow.RecordBatch, keys []arrow.Array, from, to int64) error {
	part := batch.NewSlice(from, to)
	defer part.Release()
	keys = slices.Clone(keys)
	for i, k := range keys {
		keys[i] = array.NewSlice(k, from, to)
	}
	defer arrowutil.ReleaseAll(keys)
	return s.Add(ctx, part, keys)
}

// mostHeld is the number of rows of which a sorter with a limit keeps the first ones.
func (s *Sorter) mostHeld() int { return int(min(2*s.o.Limit, math.MaxInt32)) + spareRows }

// addFirst adds the rows that may be among the first ones.
func (s *Sorter) addFirst(ctx context.Context, batch arrow.RecordBatch, keys []arrow.Array) error {
	rows := s.encoder.below(keys, int(batch.NumRows()), s.threshold, &s.held.keys)
	if len(rows) == 0 {
		return nil
	}
	part, err := arrowutil.TakeRows(s.o.Allocator, batch, rows)
	if err != nil {
		return err
	}
	defer part.Release()
	return s.hold(ctx, part.Columns(), len(rows))
}

// hold keeps rows whose keys have been added already. Then it frees memory if there are too many.
func (s *Sorter) hold(ctx context.Context, columns []arrow.Array, rows int) error {
	if err := s.held.add(s.o.Allocator, columns, rows); err != nil {
		return err
	}
	if s.o.Limit > 0 && s.held.rows >= s.mostHeld() {
		if err := s.shrink(); err != nil {
			return err
		}
	}
	limit := s.o.Memory
	if len(s.runs) > 0 {
		limit /= laterRuns
	}
	if s.held.size() < limit {
		return nil
	}
	return s.spill(ctx)
}

// shrink drops the rows that are not among the first ones.
func (s *Sorter) shrink() error {
	rows := rowsOfItems(s.held.keys.sorted()[:s.o.Limit])
	columns, err := s.held.take(s.o.Allocator, rows)
	if err != nil {
		return err
	}
	defer arrowutil.ReleaseAll(columns)
	keys := s.held.keys.take(rows)
	s.held.release()
	s.held.keys = keys
	s.threshold = bytes.Clone(keys.Key(keys.Len() - 1))
	return s.held.add(s.o.Allocator, columns, len(rows))
}

// spill sorts the rows in memory, and moves them to a temporary file.
func (s *Sorter) spill(ctx context.Context) error {
	items := s.held.keys.sorted()
	if s.o.Limit > 0 && int64(len(items)) > s.o.Limit {
		items = items[:s.o.Limit]
		s.threshold = bytes.Clone(s.held.keys.Key(int(items[len(items)-1].row)))
	}
	r, err := s.createRun(0)
	if err != nil {
		return err
	}
	chunk := rowsOf(runBatchBytes, s.held.size(), s.held.rows)
	for part := range slices.Chunk(items, chunk) {
		if err := errors.Join(ctx.Err(), s.writeHeld(r, part)); err != nil {
			return errors.Join(err, r.Close())
		}
	}
	return s.finishRun(ctx, r)
}

// createRun begins a run.
func (s *Sorter) createRun(level int) (*run, error) {
	f, err := s.createTemp(s.o.TempDir)
	if err != nil {
		return nil, err
	}
	return &run{rowfile.New(f, s.o.Allocator), level}, nil
}

// writeHeld appends rows in memory to a run.
func (s *Sorter) writeHeld(r *run, items []item) error {
	rows := rowsOfItems(items)
	columns, err := s.held.take(s.o.Allocator, rows)
	if err != nil {
		return err
	}
	columns = append(columns, s.held.keys.array(s.o.Allocator, rows))
	defer arrowutil.ReleaseAll(columns)
	return r.Write(columns, len(rows))
}

// finishRun ends a run, and merges runs if there are many.
func (s *Sorter) finishRun(ctx context.Context, r *run) error {
	if err := r.Finish(); err != nil {
		return errors.Join(err, r.Close())
	}
	s.held.release()
	s.runs = append(s.runs, r)
	n := 0
	for n < len(s.runs) && s.runs[len(s.runs)-1-n].level == r.level {
		n++
	}
	if n < mostRuns {
		return nil
	}
	return s.mergeRuns(ctx, len(s.runs)-n)
}

// mergeRuns makes one run of those from an index on.
func (s *Sorter) mergeRuns(ctx context.Context, from int) error {
	to, err := s.createRun(s.runs[from].level + 1)
	if err != nil {
		return err
	}
	m, err := newMerge(s.o.Allocator, s.runs[from:])
	if err != nil {
		return errors.Join(err, to.Close())
	}
	defer m.release()
	for left := s.o.Limit; s.o.Limit == 0 || left > 0; {
		n := m.chunk
		if s.o.Limit > 0 {
			n = int(min(int64(n), left))
		}
		columns, rows, err := m.next(n)
		if rows == 0 && err == nil {
			break
		}
		left -= int64(rows)
		if err == nil {
			err = errors.Join(ctx.Err(), to.Write(columns, rows))
		}
		arrowutil.ReleaseAll(columns)
		if err != nil {
			return errors.Join(err, to.Close())
		}
	}
	err = seq.CloseAll(s.runs[from:])
	s.runs = s.runs[:from]
	if err != nil {
		return errors.Join(err, to.Close())
	}
	return s.finishRun(ctx, to)
}

// Finish ends the input. Next returns the rows then.
func (s *Sorter) Finish(ctx context.Context) error {
	if s.left = s.o.Limit; s.left == 0 {
		s.left = -1
	}
	if len(s.runs) == 0 {
		s.sorted = s.held.keys.sorted()
		s.chunk = rowsOf(batchBytes, s.held.size(), s.held.rows)
		return ctx.Err()
	}
	if s.held.rows > 0 {
		if err := s.spill(ctx); err != nil {
			return err
		}
	}
	var err error
	if s.merge, err = newMerge(s.o.Allocator, s.runs); err == nil {
		s.chunk = s.merge.chunk
	}
	return err
}

// Schema is the schema of the rows.
func (s *Sorter) Schema() *arrow.Schema { return s.schema }

// Next returns the next rows in order, or none at the end. The caller releases the batch.
func (s *Sorter) Next(ctx context.Context) (arrow.RecordBatch, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if len(s.ready) == 0 {
		if err := s.prepare(); err != nil {
			return nil, err
		}
		if len(s.ready) == 0 {
			return nil, nil
		}
	}
	b := s.ready[0]
	s.ready = s.ready[1:]
	return b, nil
}

// prepare makes the next batches, or none at the end.
func (s *Sorter) prepare() error {
	n := s.chunk
	if s.left >= 0 {
		n = int(min(int64(n), s.left))
	}
	columns, rows, err := s.nextPlain(n)
	defer func() { arrowutil.ReleaseAll(columns) }()
	if err != nil || rows == 0 {
		return err
	}
	if s.left >= 0 {
		s.left -= int64(rows)
	}
	s.ready, err = s.wrap(columns, rows)
	return err
}

// nextPlain returns up to n rows, with columns that may be followed by that of their keys.
func (s *Sorter) nextPlain(n int) ([]arrow.Array, int, error) {
	if s.merge != nil {
		return s.merge.next(n)
	}
	n = min(n, len(s.sorted))
	if n == 0 {
		return nil, 0, nil
	}
	rows := rowsOfItems(s.sorted[:n])
	s.sorted = s.sorted[n:]
	columns, err := s.held.take(s.o.Allocator, rows)
	return columns, n, err
}

// wrap makes batches of plain columns: one, or several if the codes of a dictionary can number the values of fewer rows only.
func (s *Sorter) wrap(columns []arrow.Array, rows int) ([]arrow.RecordBatch, error) {
	out := make([]arrow.Array, s.schema.NumFields())
	defer func() { arrowutil.ReleaseAll(out) }()
	for i, f := range s.schema.Fields() {
		var err error
		if out[i], err = arrowutil.Wrap(s.o.Allocator, columns[i], f.Type); err != nil {
			if errors.Is(err, fault.ErrBatchTooLarge) && rows > 1 {
				return s.wrapHalves(columns, rows)
			}
			return nil, err
		}
	}
	return []arrow.RecordBatch{array.NewRecordBatch(s.schema, out, int64(rows))}, nil
}

func (s *Sorter) wrapHalves(columns []arrow.Array, rows int) (out []arrow.RecordBatch, err error) {
	for _, part := range [2][2]int{{0, rows / 2}, {rows / 2, rows}} {
		slices := make([]arrow.Array, len(columns))
		for i, c := range columns {
			slices[i] = array.NewSlice(c, int64(part[0]), int64(part[1]))
		}
		half, err := s.wrap(slices, part[1]-part[0])
		arrowutil.ReleaseAll(slices)
		if out = append(out, half...); err != nil {
			for _, b := range out {
				b.Release()
			}
			return nil, err
		}
	}
	return out, nil
}

// Close releases memory and removes temporary files. It may be called in any state, and several times.
func (s *Sorter) Close() error {
	s.merge.release()
	s.held.release()
	for _, b := range s.ready {
		b.Release()
	}
	err := seq.CloseAll(s.runs)
	s.runs, s.sorted, s.merge, s.ready, s.chunk = nil, nil, nil, nil, 0
	return err
}

// rowsOf is the number of rows that take some bytes, if all take as much as those counted.
func rowsOf(bytes, size int64, rows int) int {
	if size <= 0 {
		return batchRows
	}
	return int(min(max(bytes*int64(rows)/size, 1), batchRows))
}
