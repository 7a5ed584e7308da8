package arrowipc

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/ipc"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/amudai/amudai-go/internal/arrow/arrowutil"
	"github.com/amudai/amudai-go/internal/arrow/kinds"
	"github.com/amudai/amudai-go/internal/tablefile"
	"github.com/amudai/amudai-go/internal/text"
	"github.com/amudai/amudai-go/storage"
	"github.com/amudai/amudai-go/table/provider"
)

// writer writes batches. A file has one dictionary for each column. Batches with dictionaries are therefore written to
// a temporary stream, whose dictionaries only grow. At the end they are copied to the file with the final
// dictionaries.
type writer struct {
	to *storage.IOWriter
	w  interface {
		Write(arrow.RecordBatch) error
		Close() error
	}
	schema *arrow.Schema
	mem    memory.Allocator
	merge  *dictionaryMerger
	temp   *os.File // the stream
	final  func() (*ipc.FileWriter, error)
}

func createFile(ctx context.Context, out provider.Output, schema *arrow.Schema, o provider.WriteOptions) (provider.Sink, error) {
	s := newWriter(ctx, out, schema, o)
	sink := tablefile.NewSink(s, out)
	file := func() (*ipc.FileWriter, error) { return ipc.NewFileWriter(s.to, ipc.WithSchema(schema)) }
	if !schemaHas(schema, arrow.DICTIONARY) {
		w, err := file()
		s.w = w
		return sink, err
	}
	temp, err := os.CreateTemp(o.TempDir, "amudai-arrow-*")
	if err != nil {
		return nil, err
	}
	s.temp, s.final = temp, file
	s.w = ipc.NewWriter(onlyWriter{temp}, ipc.WithSchema(schema))
	s.merge = newDictionaryMerger(s.mem)
	return sink, nil
}

func createStream(ctx context.Context, out provider.Output, schema *arrow.Schema, o provider.WriteOptions) (provider.Sink, error) {
	s := newWriter(ctx, out, schema, o)
	sink := tablefile.NewSink(s, out)
	s.w = ipc.NewWriter(s.to, ipc.WithSchema(schema))
	if schemaHas(schema, arrow.DICTIONARY) && schemaHas(schema, arrow.FLOAT16, arrow.FLOAT32, arrow.FLOAT64) {
		// The stream writer takes dictionaries of nearly equal floats for equal, unless one is longer.
		s.merge = newDictionaryMerger(s.mem)
	}
	return sink, nil
}

func newWriter(ctx context.Context, out provider.Output, schema *arrow.Schema, o provider.WriteOptions) *writer {
	s := &writer{to: &storage.IOWriter{Context: ctx, Writer: out}, schema: schema, mem: o.Allocator}
	s.mem = cmp.Or(s.mem, memory.DefaultAllocator)
	return s
}

func schemaHas(s *arrow.Schema, ids ...arrow.Type) bool {
	return slices.ContainsFunc(s.Fields(), func(f arrow.Field) bool { return kinds.HasID(f.Type, ids...) })
}

// onlyWriter hides all other methods of a file, which the IPC writer would use.
type onlyWriter struct{ io.Writer }

func (s *writer) Write(ctx context.Context, batch arrow.RecordBatch) error {
	s.to.Context = ctx
	if err := ctx.Err(); err != nil {
		return err
	}
	return guard(func() error {
		columns := make([]arrow.Array, batch.NumCols())
		for i, c := range batch.Columns() {
			c, err := s.column(s.schema.Field(i).Name, c)
			if err != nil {
				return err
			}
			defer c.Release()
			columns[i] = c
		}
		out := array.NewRecordBatch(s.schema, columns, batch.NumRows())
		defer out.Release()
		return s.w.Write(out)
	})
}

// column returns a column that arrow-go can write. Its writer does not slice list views, and files take one
// dictionary for all batches. The caller releases the column.
func (s *writer) column(name string, c arrow.Array) (arrow.Array, error) {
	c.Retain()
	if kinds.HasID(c.DataType(), arrow.LIST_VIEW, arrow.LARGE_LIST_VIEW) {
		whole, err := s.unsliced(c)
		c.Release()
		if err != nil {
			return nil, err
		}
		c = whole
	}
	if s.merge == nil || !kinds.HasID(c.DataType(), arrow.DICTIONARY) {
		return c, nil
	}
	defer c.Release()
	merged, err := eachDictionary(name, c.Data(), s.merge.dictionary)
	if err != nil {
		return nil, err
	}
	defer merged.Release()
	return array.MakeFromData(merged), nil
}

// unsliced copies a column so that it contains no sliced list view.
func (s *writer) unsliced(c arrow.Array) (arrow.Array, error) {
	if id := c.DataType().ID(); id == arrow.LIST_VIEW || id == arrow.LARGE_LIST_VIEW {
		return arrowutil.Relist(s.mem, c, c.DataType().(arrow.ListLikeType), nil)
	}
	all := make([]int64, c.Len())
	for i := range all {
		all[i] = int64(i)
	}
	return arrowutil.Take(s.mem, c, all)
}

func (s *writer) Close(ctx context.Context) error {
	s.to.Context = ctx
	err := guard(s.w.Close)
	if s.temp != nil && err == nil {
		err = guard(func() error { return s.rewrite(ctx) })
	}
	if err == nil {
		err = ctx.Err()
	}
	return errors.Join(err, s.Abort(ctx))
}

// Abort drops what belongs to this process.
func (s *writer) Abort(context.Context) error {
	s.merge.release()
	if s.temp == nil {
		return nil
	}
	return errors.Join(s.temp.Close(), os.Remove(s.temp.Name()))
}

// rewrite copies the temporary stream to the file, with the final dictionaries.
func (s *writer) rewrite(ctx context.Context) error {
	if _, err := s.temp.Seek(0, io.SeekStart); err != nil {
		return err
	}
	r, err := ipc.NewReader(bufio.NewReaderSize(s.temp, 1<<20), ipc.WithAllocator(s.mem))
	if err != nil {
		return err
	}
	defer r.Release()
	w, err := s.final()
	if err != nil {
		return err
	}
	last, err := s.merge.last()
	if err != nil {
		return err
	}
	for r.Next() {
		if err := ctx.Err(); err != nil {
			return err
		}
		columns := make([]arrow.Array, s.schema.NumFields())
		for i, c := range r.RecordBatch().Columns() {
			d := last.replace(s.schema.Field(i).Name, c.Data())
			defer d.Release()
			columns[i] = array.MakeFromData(d)
		}
		if err := w.Write(array.NewRecordBatch(s.schema, columns, r.RecordBatch().NumRows())); err != nil {
			return err
		}
	}
	return errors.Join(r.Err(), w.Close())
}

// dictionaryMerger gives all batches the same dictionaries, which only grow.
type dictionaryMerger struct {
	mem    memory.Allocator
	merged map[string]arrow.Array // the values so far, as arrays without views, by the path of the column
	types  map[string]arrow.DataType
}

func newDictionaryMerger(mem memory.Allocator) *dictionaryMerger {
	return &dictionaryMerger{mem: mem, merged: map[string]arrow.Array{}, types: map[string]arrow.DataType{}}
}

// release frees the dictionaries. A nil merger has none.
func (m *dictionaryMerger) release() {
	if m == nil {
		return
	}
	for _, values := range m.merged {
		values.Release()
	}
	m.merged = nil
}

// lastDictionaries returns the dictionaries after all batches, by path.
type lastDictionaries map[string]arrow.ArrayData

func (m *dictionaryMerger) last() (lastDictionaries, error) {
	last := lastDictionaries{}
	for path, merged := range m.merged {
		values, err := arrowutil.Wrap(m.mem, merged, m.types[path])
		if err != nil {
			return nil, err
		}
		last[path] = values.Data()
	}
	return last, nil
}

// replace gives an array the final dictionaries, at any depth. Codes stay valid, because dictionaries only grew. The
// caller releases it.
func (l lastDictionaries) replace(path string, d arrow.ArrayData) arrow.ArrayData {
	out, _ := eachDictionary(path, d, func(path string, _ *arrow.DictionaryType, d arrow.ArrayData) (arrow.ArrayData, error) {
		out := array.NewData(d.DataType(), d.Len(), d.Buffers(), nil, d.NullN(), d.Offset())
		out.SetDictionary(l[path])
		return out, nil
	})
	return out
}

// eachDictionary rebuilds an array with what change makes of the dictionary arrays in it, at any depth. The caller releases it.
func eachDictionary(path string, d arrow.ArrayData, change func(string, *arrow.DictionaryType, arrow.ArrayData) (arrow.ArrayData, error)) (arrow.ArrayData, error) {
	if !kinds.HasID(d.DataType(), arrow.DICTIONARY) {
		d.Retain()
		return d, nil
	}
	if dt, ok := kinds.Storage(d.DataType()).(*arrow.DictionaryType); ok {
		return change(path, dt, d)
	}
	children := make([]arrow.ArrayData, len(d.Children()))
	for i, c := range d.Children() {
		child, err := eachDictionary(fmt.Sprintf("%s/%d", path, i), c, change)
		if err != nil {
			return nil, err
		}
		defer child.Release()
		children[i] = child
	}
	return array.NewData(d.DataType(), d.Len(), d.Buffers(), children, d.NullN(), d.Offset()), nil
}

// dictionary is an array with codes of the merged dictionary. The caller releases it.
func (m *dictionaryMerger) dictionary(path string, dt *arrow.DictionaryType, d arrow.ArrayData) (arrow.ArrayData, error) {
	storage := array.NewData(dt, d.Len(), d.Buffers(), nil, d.NullN(), d.Offset())
	storage.SetDictionary(d.Dictionary())
	codes := array.NewDictionaryData(storage)
	storage.Release()
	defer codes.Release()
	places, err := m.add(path, dt, codes)
	if errors.Is(err, arrowutil.ErrTooManyValues) {
		return nil, fmt.Errorf("column %q: the values of all batches do not fit one %s, as an Arrow file needs: %w", path, text.Type(dt), err)
	}
	if err != nil {
		return nil, err
	}
	defer places.Release()
	values, err := arrowutil.Wrap(m.mem, m.merged[path], dt.ValueType)
	if err != nil {
		return nil, err
	}
	defer values.Release()
	merged := array.NewData(d.DataType(), places.Len(), places.Data().Buffers(), nil, places.NullN(), 0)
	merged.SetDictionary(values.Data())
	return merged, nil
}

// add adds the values of an array to the dictionary of a path, and returns the array with codes of this dictionary.
// The caller releases it.
func (m *dictionaryMerger) add(path string, dt *arrow.DictionaryType, codes *array.Dictionary) (arrow.Array, error) {
	values, err := arrowutil.Plain(m.mem, codes.Dictionary())
	if err != nil {
		return nil, err
	}
	defer values.Release()
	rows, entries := usedEntries(codes)
	fresh, err := arrowutil.Take(m.mem, values, entries)
	if err != nil {
		return nil, err
	}
	defer fresh.Release()
	known := int64(0)
	all := fresh
	if merged := m.merged[path]; merged != nil {
		known = int64(merged.Len())
		if all, err = array.Concatenate([]arrow.Array{merged, fresh}, m.mem); err != nil {
			return nil, err
		}
		defer all.Release()
	}
	encoded, err := arrowutil.EncodeDictionary(m.mem, all, &arrow.DictionaryType{IndexType: dt.IndexType, ValueType: values.DataType()})
	if err != nil {
		return nil, err
	}
	defer encoded.Release()
	merged := encoded.(*array.Dictionary).Dictionary()
	merged.Retain()
	if old := m.merged[path]; old != nil {
		old.Release()
	}
	m.merged[path], m.types[path] = merged, dt.ValueType
	for i := range rows {
		if rows[i] >= 0 {
			rows[i] += known
		}
	}
	return arrowutil.Take(m.mem, encoded.(*array.Dictionary).Indices(), rows)
}

// usedEntries lists the entries of a dictionary that an array uses, and the number of the entry for each row, -1 for
// null.
func usedEntries(codes *array.Dictionary) (rows, entries []int64) {
	slot := make([]int64, codes.Dictionary().Len())
	rows = make([]int64, codes.Len())
	for i, k := range arrowutil.Entries(codes) {
		if k < 0 {
			rows[i] = -1
			continue
		}
		at := &slot[k]
		if *at == 0 {
			entries = append(entries, k)
			*at = int64(len(entries))
		}
		rows[i] = *at - 1
	}
	return rows, entries
}
