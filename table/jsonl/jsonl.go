// Package jsonl reads and writes JSON as Arrow record batches: values that follow
// one another, usually an object a line, or an array of them.
//
// The keys of the objects are the columns. A missing key is null. Nested objects become structs, arrays become lists,
// and strings that are all ISO dates or timestamps become those types. Columns that mix types, have numbers beyond 64
// bits, or are null in the whole sample, are kept as JSON text (extension type arrow.json), which any later value
// fits. A key that first appears after the sample is an error, never dropped: name it with
// [table.ReadOptions.Schema], or use a larger sample. Records that are not objects make one column named "value".
package jsonl

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"

	"github.com/amudai/amudai-go/internal/text"
	"github.com/amudai/amudai-go/internal/text/jsontext"
	"github.com/amudai/amudai-go/internal/text/values"
	"github.com/amudai/amudai-go/table"
	"github.com/amudai/amudai-go/table/internal/records"
)

func init() {
	table.Register(New(Options{}))
	table.Register(NewArray(Options{}))
}

// Options are the options that only JSON has. The zero value is the default.
type Options struct {
	Text     table.TextOptions
	Encoding string   // "utf-8", "utf-16le", "windows-1252", …; default: recognized, with a notice
	Unnest   string   // the path of an array in the records, with dots: its elements are the rows
	Keep     []string // paths of fields beside Unnest that are repeated in its rows
	Records  Records  // what the rows of the table are
}

// Records says what the rows of a table are.
type Records uint8

// The choices of [Options.Records].
const (
	RecordsAuto Records = iota // recognized in the first bytes, with a notice
	Values                     // the values, or the elements of one array
	Entries                    // the entries of one object: {"a": {…}, "b": {…}}; the first column is the key
	Arrays                     // arrays, of which the first has the names: [["id", "name"], [1, "x"]]
)

// New returns the format of a sequence of JSON values, usually an object a line. It is recognized by a "{" at the
// start.
func New(o Options) table.Format {
	f := format(o, true, separators{after: "\n"})
	f.Name, f.Title, f.Extensions = "jsonl", "JSON lines", []string{".jsonl", ".ndjson"}
	f.Sniff, f.SniffLast = func(head []byte) bool { return startsWith(head, '{') }, true
	return f
}

// NewArray returns the format of one JSON array of records. Reading also accepts a sequence of values, as in [New].
func NewArray(o Options) table.Format {
	f := format(o, false, separators{first: "[", between: ",\n ", last: "]\n"})
	f.Name, f.Title, f.Extensions = "json", "JSON", []string{".json"}
	f.Sniff = func(head []byte) bool { return startsWith(head, '[') }
	return f
}

// startsWith reports whether c comes first, after a byte order mark and white space.
func startsWith(head []byte, c byte) bool {
	head = bytes.TrimLeft(bytes.TrimPrefix(head, []byte("\xef\xbb\xbf")), " \t\r\n")
	return len(head) > 0 && head[0] == c
}

func format(o Options, lines bool, sep separators) table.Format {
	o.Text = o.Text.WithDefaults()
	return table.Format{
		Casts: true,
		Reader: func(ctx context.Context, in table.Input, ro table.ReadOptions) (table.Source, error) {
			return open(ctx, in, ro, o, lines)
		},
		Writer: func(ctx context.Context, out table.Output, schema *arrow.Schema, _ table.WriteOptions) (table.Sink, error) {
			return newSink(ctx, out, schema, sep)
		},
	}
}

type source struct {
	records.Source
	o       Options
	layout  layout
	found   []string // paths of arrays of objects in the only object
	left    []string // fields beside the path of the records
	records *scanner
	scan    jsontext.Scanner
	members *values.Members   // records are objects
	value   values.JSONSetter // records are not objects
	wanted  *table.Projection // of the columns in the result
}

func open(ctx context.Context, in table.Input, ro table.ReadOptions, o Options, lines bool) (table.Source, error) {
	s := &source{Source: records.Source{In: in, Options: ro.WithDefaults(), Text: o.Text}, o: o}
	if err := s.open(ctx, lines); err != nil {
		return nil, errors.Join(err, s.Close())
	}
	return s, nil
}

func (s *source) open(ctx context.Context, lines bool) error {
	sample, whole, err := s.OpenText(ctx, s.o.Encoding)
	if err != nil {
		return s.Wrap(err)
	}
	if s.o.Encoding == "" && !s.Encoding.IsUTF8() {
		s.Options.Warning(fmt.Sprintf("%s is read with %s text (--encoding)", s.In.Name, s.Encoding))
	}
	var seen *shape
	for {
		s.recognize(sample, whole, lines)
		seen = new(shape)
		if err = s.infer(seen, sample, whole); err == nil {
			break
		}
		if !errors.Is(err, records.ErrSampleShort) {
			return err
		}
		if sample, whole, err = records.GrowSample(ctx, s.In.Reader, sample, s.Text.MaxRecordBytes); err != nil {
			return s.Wrap(s.withPaths(err))
		}
	}
	if s.Text.AllRows {
		seen = new(shape)
		in := newScanner(s.Again(), s.layout, s.Text.MaxRecordBytes)
		in.During(ctx)
		if _, err := s.look(seen, in, true, math.MaxInt64); err != nil {
			return err
		}
	}
	s.tell()
	s.records = newScanner(io.MultiReader(bytes.NewReader(sample), s.In.Reader), s.layout, s.Text.MaxRecordBytes)
	return s.bind(seen)
}

// infer reads the records of the sample.
func (s *source) infer(seen *shape, sample []byte, whole bool) error {
	in := newScanner(bytes.NewReader(sample), s.layout, 0)
	rows, err := s.look(seen, in, whole, int64(s.Text.SampleRows))
	if err != nil {
		return err
	}
	if s.left = in.left; rows == 0 && whole && len(s.layout.path) > 0 {
		return s.nothingAt(sample)
	}
	if err := s.notKept(in); err != nil {
		return err
	}
	total := s.In.Size
	if whole {
		total = int64(len(sample))
	}
	s.Guess(rows, in.Used(), total)
	return nil
}

// look adds up to most records to a shape. Without whole, the last one may extend beyond the stream.
func (s *source) look(seen *shape, in *scanner, whole bool, most int64) (rows int64, err error) {
	for ; rows < most; rows++ {
		rec, err := in.next()
		if !whole && (err != nil || len(in.Bytes()) == 0) {
			if rows == 0 {
				return 0, records.ErrSampleShort
			}
			break
		}
		if err == io.EOF {
			break
		}
		if err != nil {
			return 0, s.Wrap(fmt.Errorf("%w (line %d)", err, in.Line))
		}
		s.scan.Reset(rec)
		if err = seen.look(&s.scan); err == nil {
			err = s.scan.End()
		}
		if err != nil {
			return 0, s.Wrap(fmt.Errorf("%w (line %d)", err, in.atLine+s.linesBefore(rec)))
		}
	}
	return rows, nil
}

// linesBefore is the number of lines of a record that end before the position of the scanner.
func (s *source) linesBefore(rec []byte) int64 {
	return int64(bytes.Count(rec[:min(s.scan.At(), len(rec))], []byte{'\n'}))
}

// bind resolves the types and makes the builders. The columns are the keys of the records, and the columns of the
// given schema that the sample lacks.
func (s *source) bind(seen *shape) error {
	said := records.Notices{Give: s.Options.Notice}
	if seen.classes == 0 && len(s.Options.Schema) == 0 {
		s.Options.Warning(s.In.Name + " has no records to take columns from: the table has no columns")
	}
	objects := seen.classes == jsonObject || seen.classes == 0
	names := []string{"value"}
	if objects {
		names = slices.Clone(seen.keys)
		for _, f := range s.Options.Schema {
			if !slices.Contains(names, f.Name) {
				names = append(names, f.Name)
			}
		}
	}
	if len(names) > maxInferredKeys && len(seen.keys) > maxInferredKeys {
		return fmt.Errorf("the records have more than %d different keys: this looks like a map of data, not a table (in %s)", maxInferredKeys, s.In.Name)
	}
	fields := make([]arrow.Field, len(names))
	modes := make([]text.Mode, len(names))
	s.Empty = make([]bool, len(names))
	for i, name := range names {
		k := slices.IndexFunc(s.Options.Schema, func(f arrow.Field) bool { return f.Name == name })
		switch {
		case k >= 0:
			fields[i] = s.Options.Schema[k]
		case objects:
			fields[i] = arrow.Field{Name: name, Type: seen.members[name].resolve(name, &said), Nullable: true}
			modes[i] = text.Strict
			s.Empty[i] = seen.members[name].classes == 0
		default:
			fields[i] = arrow.Field{Name: name, Type: seen.resolve(name, &said), Nullable: true}
			modes[i] = text.Strict
		}
	}
	said.End()
	return s.build(fields, modes, objects)
}

func (s *source) build(fields []arrow.Field, modes []text.Mode, objects bool) (err error) {
	all := arrow.NewSchema(fields, nil)
	if s.wanted, err = table.Project(all, s.Options.Columns); err != nil {
		return s.Wrap(err)
	}
	s.Out = s.wanted.Schema()
	s.Builder = array.NewRecordBuilder(s.Options.Allocator, all)
	if objects {
		s.members, err = values.NewMembers(fields, s.Builder.Field, func(i int) text.Mode { return modes[i] })
		return err
	}
	set, err := values.NewJSONSetter(s.Builder.Field(0), modes[0])
	s.value = values.Required(fields[0], set)
	return err
}

// Rows implements [table.Source].
func (s *source) Rows() (int64, bool) {
	return s.Estimate(s.records.Used())
}

// Next implements [table.Source].
func (s *source) Next(ctx context.Context) (arrow.RecordBatch, error) {
	s.records.During(ctx)
	n, err := s.Fill(ctx, func() (int, error) {
		rec, err := s.records.next()
		if err == io.EOF {
			return 0, err
		}
		if err != nil {
			return 0, s.Wrap(fmt.Errorf("%w (line %d)", err, s.records.Line))
		}
		return len(rec), s.add(rec)
	})
	if err != nil {
		return nil, err
	}
	if len(s.Builder.Fields()) == 0 {
		return array.NewRecordBatch(s.Out, nil, n), nil
	}
	batch := s.Builder.NewRecordBatch()
	defer batch.Release()
	return s.wanted.Of(batch), nil
}

func (s *source) add(rec []byte) error {
	s.scan.Reset(rec)
	var err error
	switch c := s.scan.Peek(); {
	case s.members == nil:
		err = s.value(&s.scan)
	case c != '{':
		err = fmt.Errorf("the record is not an object, unlike those before: %q", text.Clip(string(rec)))
	default:
		err = s.members.Read(&s.scan)
	}
	if err == nil {
		err = s.scan.End()
	}
	var m *values.Misfit
	if errors.As(err, &m) {
		return s.misfit(m)
	}
	if err != nil {
		return s.Wrap(fmt.Errorf("%w (line %d)", err, s.records.atLine+s.linesBefore(rec)))
	}
	return nil
}

func (s *source) misfit(m *values.Misfit) error {
	path := strings.TrimPrefix(m.Path, ".")
	top := path
	for _, f := range s.Builder.Schema().Fields() {
		if f.Name == path || strings.HasPrefix(path, f.Name+".") || strings.HasPrefix(path, f.Name+"[]") {
			top = f.Name
		}
	}
	if s.members == nil {
		path = "value" + m.Path
		top = "value"
	}
	remedy := fmt.Sprintf("--schema %s keeps any value", records.ShellQuote(text.Name(top)+":json"))
	inferred := !slices.ContainsFunc(s.Options.Schema, func(f arrow.Field) bool { return f.Name == top })
	if inferred {
		remedy += ", --sample all finds types that fit all rows"
	}
	return &table.ValueError{Column: path, Line: s.records.atLine, Input: s.In.Name, Err: m.Err, Remedy: remedy, Inferred: inferred && !s.Text.AllRows}
}
