package tabular

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
)

// JSONLines is one JSON value after the other, usually an object a line.
//
// The keys of the objects are the columns; a key that an object does not have
// is null. Nested objects become structs, arrays become lists, strings that are all
// ISO dates or timestamps become those. Columns that mix types, have numbers
// beyond 64 bits, or were null in the whole sample, are kept as JSON text (extension type
// arrow.json), which any later value fits. A key that first appears behind the sample is
// an error, never dropped: name it with ReadOptions.Schema, or take a larger sample.
// Records that are no objects make one column named "value".
var JSONLines = Format{
	Name: "jsonl", Title: "JSON lines", Extensions: []string{".jsonl", ".ndjson"},
	Open: func(ctx context.Context, in Input, o ReadOptions) (Source, error) { return openJSON(in, o, true) },
	Create: func(_ context.Context, out Output, schema *arrow.Schema, _ WriteOptions) (Sink, error) {
		return newJSONSink(out, schema, "", "", "\n", "")
	},
}

// JSON is an array of records, as one JSON text. When reading, values that
// follow one another, as in [JSONLines], are understood too.
var JSON = Format{
	Name: "json", Title: "JSON", Extensions: []string{".json"},
	Open: func(ctx context.Context, in Input, o ReadOptions) (Source, error) { return openJSON(in, o, false) },
	Create: func(_ context.Context, out Output, schema *arrow.Schema, _ WriteOptions) (Sink, error) {
		return newJSONSink(out, schema, "[", ",\n ", "", "]\n")
	},
}

type jsonSource struct {
	recordSource
	records *jsonRecords
	scan    jsonScanner
	members *members   // records are objects
	value   jsonSetter // or they are not
	keep    []int      // columns to give, of those that are read; nil: all
}

func openJSON(in Input, o ReadOptions, lines bool) (Source, error) {
	s := &jsonSource{recordSource: recordSource{in: in, o: o.WithDefaults()}}
	if err := s.open(lines); err != nil {
		in.Close()
		return nil, err
	}
	return s, nil
}

func (s *jsonSource) open(lines bool) error {
	sample, whole, err := readSample(s.in.Reader, s.o.SampleBytes)
	if err != nil {
		return s.wrap(err)
	}
	shape := new(jsonShape)
	for {
		if err = s.infer(shape, sample, whole, lines); err == nil {
			break
		}
		if !errors.Is(err, errSampleShort) {
			return err
		}
		if sample, whole, err = growSample(s.in.Reader, sample, s.o.MaxRecordBytes); err != nil {
			return s.wrap(err)
		}
	}
	s.records = newJSONRecords(io.MultiReader(bytes.NewReader(sample), s.in.Reader), s.o.MaxRecordBytes, lines)
	return s.bind(shape)
}

// infer looks at the records of the sample.
func (s *jsonSource) infer(shape *jsonShape, sample []byte, whole, lines bool) error {
	records := newJSONRecords(bytes.NewReader(sample), 0, lines)
	rows := int64(0)
	for ; rows < int64(s.o.SampleRows); rows++ {
		rec, err := records.next()
		if !whole && (err != nil || len(records.bytes()) == 0) { // the record may go on behind the sample
			if rows == 0 {
				return errSampleShort
			}
			break
		}
		if err == io.EOF {
			break
		}
		if err != nil {
			return s.wrap(fmt.Errorf("%w (line %d)", err, records.line))
		}
		s.scan.reset(rec)
		if err := shape.look(&s.scan); err != nil {
			return s.wrap(fmt.Errorf("%w (line %d)", err, records.atLine))
		}
	}
	total := s.in.Size
	if whole {
		total = int64(len(sample))
	}
	s.guess(rows, records.read-int64(len(records.bytes())), total)
	return nil
}

// bind decides the types and makes the builders. The columns are the keys of
// the records, and those of the given schema that the sample does not have.
func (s *jsonSource) bind(shape *jsonShape) error {
	said := notices{give: s.o.Notice}
	objects := shape.classes == jsonObject || shape.classes == 0
	names := []string{"value"}
	if objects {
		names = slices.Clone(shape.keys)
		for _, f := range s.o.Schema {
			if !slices.Contains(names, f.Name) {
				names = append(names, f.Name)
			}
		}
	}
	if len(names) > maxInferredKeys && len(shape.keys) > maxInferredKeys {
		return fmt.Errorf("the records have more than %d different keys: this looks like a map of data, not a table (in %s)", maxInferredKeys, s.in.Name)
	}
	fields := make([]arrow.Field, len(names))
	strict := make([]strictness, len(names))
	for i, name := range names {
		k := slices.IndexFunc(s.o.Schema, func(f arrow.Field) bool { return f.Name == name })
		switch {
		case k >= 0:
			fields[i] = s.o.Schema[k]
		case objects:
			fields[i] = arrow.Field{Name: name, Type: shape.members[name].resolve(name, &said), Nullable: true}
			strict[i] = inferred
		default:
			fields[i] = arrow.Field{Name: name, Type: shape.resolve(name, &said), Nullable: true}
			strict[i] = inferred
		}
	}
	said.end()
	return s.build(fields, strict, objects)
}

func (s *jsonSource) build(fields []arrow.Field, strict []strictness, objects bool) (err error) {
	all := arrow.NewSchema(fields, nil)
	s.schema = all
	if s.o.Columns != nil {
		if s.keep, err = project(fields, s.o.Columns); err != nil {
			return s.wrap(err)
		}
		kept := make([]arrow.Field, len(s.keep))
		for k, i := range s.keep {
			kept[k] = fields[i]
		}
		s.schema = arrow.NewSchema(kept, nil)
	}
	s.builder = array.NewRecordBuilder(s.o.Allocator, all)
	if objects {
		s.members, err = newMembers(fields, s.builder.Field, func(i int) strictness { return strict[i] })
		return err
	}
	set, err := newJSONSetter(s.builder.Field(0), strict[0])
	s.value = required(fields[0], set)
	return err
}

// Rows implements [Source].
func (s *jsonSource) Rows() (int64, bool) {
	return s.estimate(s.records.read - int64(len(s.records.bytes())))
}

// Next implements [Source].
func (s *jsonSource) Next(ctx context.Context) (arrow.RecordBatch, error) {
	n, err := s.fill(ctx, func() (int, error) {
		rec, err := s.records.next()
		if err == io.EOF {
			return 0, err
		}
		if err != nil {
			return 0, s.wrap(fmt.Errorf("%w (line %d)", err, s.records.line))
		}
		return len(rec), s.add(rec)
	})
	if err != nil {
		return nil, err
	}
	if len(s.builder.Fields()) == 0 {
		return array.NewRecordBatch(s.schema, nil, n), nil
	}
	batch := s.builder.NewRecordBatch()
	if s.keep == nil {
		return batch, nil
	}
	defer batch.Release()
	kept := make([]arrow.Array, len(s.keep))
	for k, i := range s.keep {
		kept[k] = batch.Column(i)
	}
	return array.NewRecordBatch(s.schema, kept, n), nil
}

func (s *jsonSource) add(rec []byte) error {
	s.scan.reset(rec)
	var err error
	switch c := s.scan.peek(); {
	case s.members == nil:
		err = s.value(&s.scan)
	case c != '{':
		err = fmt.Errorf("the record is no object, unlike those before: %q", clip(string(rec)))
	default:
		err = s.members.read(&s.scan)
	}
	if err == nil {
		if s.scan.peek(); s.scan.i < len(rec) {
			err = s.scan.unexpected()
		}
	}
	var m *misfit
	if errors.As(err, &m) {
		return s.misfit(m)
	}
	if err != nil {
		return s.wrap(fmt.Errorf("%w (line %d)", err, s.records.atLine))
	}
	return nil
}

func (s *jsonSource) misfit(m *misfit) error {
	path := strings.TrimPrefix(m.path, ".")
	top := path
	for _, f := range s.builder.Schema().Fields() {
		if f.Name == path || strings.HasPrefix(path, f.Name+".") || strings.HasPrefix(path, f.Name+"[]") {
			top = f.Name
		}
	}
	if s.members == nil {
		path = "value" + m.path
		top = "value"
	}
	remedy := fmt.Sprintf("--schema %s keeps any value, or take a larger --sample", shellQuote(nameText(top)+":json"))
	return &ValueError{Column: path, Line: s.records.atLine, Input: s.in.Name, Err: m.err, Remedy: remedy}
}

// jsonSink writes one object a row, between the given pieces of text.
type jsonSink struct {
	out                  Output
	w                    *bufio.Writer
	schema               *arrow.Schema
	between, after, last string
	rows                 int64
	buf                  []byte
	ended                bool
}

func newJSONSink(out Output, schema *arrow.Schema, first, between, after, last string) (Sink, error) {
	seen := map[string]bool{}
	for _, f := range schema.Fields() {
		if seen[f.Name] {
			return nil, fmt.Errorf("column %q is there twice, which a JSON object cannot have", f.Name)
		}
		seen[f.Name] = true
	}
	s := &jsonSink{out: out, w: bufio.NewWriterSize(out, 256<<10), schema: schema, between: between, after: after, last: last}
	_, err := s.w.WriteString(first)
	return s, err
}

// Write implements [Sink].
func (s *jsonSink) Write(ctx context.Context, batch arrow.RecordBatch) error {
	columns := make([]appender, batch.NumCols())
	names := make([][]byte, batch.NumCols())
	for i, c := range batch.Columns() {
		f := s.schema.Field(i)
		if err := validUTF8(f.Name, c); err != nil {
			return err
		}
		columns[i] = JSONText(c)
		if i > 0 {
			names[i] = append(names[i], ',')
		}
		names[i] = append(appendJSONString(names[i], f.Name), ':')
	}
	for row := range int(batch.NumRows()) {
		if row%1024 == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		dst := s.buf[:0]
		if s.rows > 0 {
			dst = append(dst, s.between...)
		}
		dst = append(dst, '{')
		for i, name := range names {
			dst = columns[i](append(dst, name...), row)
		}
		dst = append(append(dst, '}'), s.after...)
		s.rows++
		s.buf = dst
		if _, err := s.w.Write(dst); err != nil {
			return err
		}
	}
	return nil
}

// Close implements [Sink].
func (s *jsonSink) Close(ctx context.Context) error {
	s.ended = true
	if _, err := s.w.WriteString(s.last); err != nil {
		return errors.Join(err, s.out.Abort())
	}
	return finishOutput(ctx, s.w, s.out)
}

// Abort implements [Sink].
func (s *jsonSink) Abort() error {
	if s.ended {
		return nil
	}
	s.ended = true
	return s.out.Abort()
}
