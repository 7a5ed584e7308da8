// Package jsonl is the formats of JSON of package text, which says how values are read and written.
package jsonl

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"regexp"
	"slices"
	"strings"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"

	"github.com/amudai/amudai-go/internal/format/projection"
	"github.com/amudai/amudai-go/internal/text"
	"github.com/amudai/amudai-go/internal/text/jsontext"
	"github.com/amudai/amudai-go/internal/text/values"
	"github.com/amudai/amudai-go/table/provider"
	"github.com/amudai/amudai-go/table/text/internal/records"
)

func init() {
	provider.Register(New(Options{}))
	provider.Register(NewArray(Options{}))
}

// Options are those of package text, which has their meaning.
type Options struct {
	Text             provider.TextOptions
	Encoding, Unnest string
	Keep             []string
	Records          Records
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
func New(o Options) provider.Format {
	f := format(o, true, separators{after: "\n"})
	f.Name, f.Title, f.Extensions = "jsonl", "JSON lines", []string{".jsonl", ".ndjson"}
	f.Sniff, f.SniffLast = objectStart.Match, true
	return f
}

// NewArray returns the format of one JSON array of records. Reading also accepts a sequence of values, as in [New].
func NewArray(o Options) provider.Format {
	f := format(o, false, separators{first: "[", between: ",\n ", last: "]\n"})
	f.Name, f.Title, f.Extensions = "json", "JSON", []string{".json"}
	f.Sniff = arrayStart.Match
	return f
}

// Beginnings of objects and arrays. Logs, too, begin with brackets, around a word or a time.
var (
	objectStart = regexp.MustCompile(`^(\x{feff})?[ \t\r\n]*\{[ \t\r\n]*(["'}]|$)`)
	arrayStart  = regexp.MustCompile(`^(\x{feff})?[ \t\r\n]*\[[ \t\r\n]*([]\[{"]|-?[0-9]+(\.[0-9]*)?([eE][-+]?[0-9]*)?[ \t\r\n]*([],]|$)|true\b|false\b|null\b|$)`)
)

func format(o Options, lines bool, sep separators) provider.Format {
	o.Text = o.Text.WithDefaults()
	return provider.Format{
		Casts: true, Text: true, Inferred: true,
		Reader: func(ctx context.Context, in provider.Input, ro provider.ReadOptions) (provider.Source, error) {
			return open(ctx, in, ro, o, lines)
		},
		Writer: func(ctx context.Context, out provider.Output, schema *arrow.Schema, _ provider.WriteOptions) (provider.Sink, error) {
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
	members *values.Members      // records are objects
	value   values.JSONSetter    // records are not objects
	wanted  *provider.Projection // of the columns in the result
	missing []missingColumn
}

func open(ctx context.Context, in provider.Input, ro provider.ReadOptions, o Options, lines bool) (provider.Source, error) {
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
	complete := false
	for {
		s.recognize(sample, whole, lines)
		seen = new(shape)
		if complete, err = s.infer(seen, sample, whole); err == nil {
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
		if _, complete, err = s.look(seen, in, true, math.MaxInt64); err != nil {
			return err
		}
	}
	s.tell()
	s.records = newScanner(io.MultiReader(bytes.NewReader(sample), s.In.Reader), s.layout, s.Text.MaxRecordBytes)
	return s.bind(seen, complete)
}

// infer reads the records of the sample. complete means that there are no others.
func (s *source) infer(seen *shape, sample []byte, whole bool) (complete bool, err error) {
	in := newScanner(bytes.NewReader(sample), s.layout, 0)
	rows, complete, err := s.look(seen, in, whole, int64(s.Text.SampleRows))
	if err != nil {
		return false, err
	}
	if s.left = in.left; rows == 0 && whole && len(s.layout.path) > 0 {
		return false, s.nothingAt(sample)
	}
	if err := s.notKept(in); err != nil {
		return false, err
	}
	total := s.In.Size
	if whole {
		total = int64(len(sample))
	}
	s.Guess(rows, in.Used(), total)
	return complete, nil
}

// look adds up to most records to a shape. Without whole, the last one may extend beyond the stream. atEnd means that there are no more.
func (s *source) look(seen *shape, in *scanner, whole bool, most int64) (rows int64, atEnd bool, err error) {
	for ; rows < most; rows++ {
		rec, err := in.next()
		if !whole && (err != nil || len(in.Bytes()) == 0) {
			if rows == 0 {
				return 0, false, records.ErrSampleShort
			}
			break
		}
		if err == io.EOF {
			return rows, true, nil
		}
		if err != nil {
			return 0, false, s.Wrap(fmt.Errorf("%w (line %d)", err, in.Line))
		}
		s.scan.Reset(rec)
		if err = seen.look(&s.scan); err == nil {
			err = s.scan.End()
		}
		if err != nil {
			return 0, false, s.Wrap(fmt.Errorf("%w (line %d)", err, in.atLine+s.linesBefore(rec)))
		}
	}
	return rows, false, nil
}

// linesBefore is the number of lines of a record that end before the position of the scanner.
func (s *source) linesBefore(rec []byte) int64 {
	return int64(bytes.Count(rec[:min(s.scan.At(), len(rec))], []byte{'\n'}))
}

// bind resolves the types and makes the builders. The columns are the keys of the records, and the columns of the
// given schema that the sample lacks, unless it has all records.
func (s *source) bind(seen *shape, complete bool) error {
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
	if err := s.checkSchema(seen, objects, complete); err != nil {
		return err
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

// checkSchema looks for the columns of the given schema in the sample. Records behind it may have others.
func (s *source) checkSchema(seen *shape, objects, complete bool) error {
	columns := []arrow.Field{{Name: "value"}}
	if objects {
		columns = seen.fields("", &records.Notices{Give: func(string) {}})
	}
	for _, f := range s.Options.Schema {
		if seen.classes == 0 || slices.ContainsFunc(columns, func(c arrow.Field) bool { return c.Name == f.Name }) {
			continue
		}
		err := projection.Missing(f, s.In.Name, columns)
		if complete || !objects {
			return err
		}
		s.Options.Notice(fmt.Sprintf("column %q of the schema is in no record of the sample of %s", f.Name, s.In.Name))
		s.missing = append(s.missing, missingColumn{f.Name, err})
	}
	return nil
}

// missingColumn is a column of the given schema that no record has had yet.
type missingColumn struct {
	name string
	err  error // unless a record has it
}

// findMissing looks for missing columns in a batch.
func (s *source) findMissing(batch arrow.RecordBatch) {
	s.missing = slices.DeleteFunc(s.missing, func(m missingColumn) bool {
		c := batch.Column(batch.Schema().FieldIndices(m.name)[0])
		return c.NullN() < c.Len()
	})
}

func (s *source) build(fields []arrow.Field, modes []text.Mode, objects bool) (err error) {
	all := arrow.NewSchema(fields, nil)
	if s.wanted, err = provider.Project(all, s.Options.Columns); err != nil {
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

func (s *source) Rows() (int64, bool) {
	return s.Estimate(s.records.Used())
}

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
	if n == 0 && err == nil && len(s.missing) > 0 {
		return nil, s.missing[0].err
	}
	if n == 0 {
		return nil, err
	}
	if len(s.Builder.Fields()) == 0 {
		return array.NewRecordBatch(s.Out, nil, n), nil
	}
	batch := s.Builder.NewRecordBatch()
	defer batch.Release()
	s.findMissing(batch)
	return s.wanted.Of(batch)
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
	return &provider.ValueError{Column: path, Line: s.records.atLine, Input: s.In.Name, Err: m.Err, Remedy: remedy, Inferred: inferred && !s.Text.AllRows}
}
