package tabular

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
)

// CSV is comma-separated values after RFC 4180, with a header record.
//
// Null and empty: a field without any text is null. A quoted field without any
// text ("") is the empty string in a column of text or bytes, and null in others,
// which have no empty value. The writer quotes empty strings, so that both come back.
// In a file with one column, an empty line is a null.
var CSV = Format{
	Name: "csv", Title: "CSV", Extensions: []string{".csv"},
	Open: openCSV, Create: createCSV,
}

// TSV is [CSV] with tabs in place of commas.
var TSV = Format{
	Name: "tsv", Title: "TSV", Extensions: []string{".tsv", ".tab"},
	Open: func(ctx context.Context, in Input, o ReadOptions) (Source, error) {
		if o.CSV.Delimiter == 0 {
			o.CSV.Delimiter = '\t'
		}
		return openCSV(ctx, in, o)
	},
	Create: func(ctx context.Context, out Output, schema *arrow.Schema, o WriteOptions) (Sink, error) {
		if o.CSV.Delimiter == 0 {
			o.CSV.Delimiter = '\t'
		}
		return createCSV(ctx, out, schema, o)
	},
}

type csvSource struct {
	recordSource
	scan    *csvScanner
	names   []string
	columns []csvColumn // by position in the file
}

// csvColumn appends the cells of one column; set is nil if it is not asked for.
type csvColumn struct {
	set      setter
	builder  array.Builder
	empty    bool // "" is a value
	nullable bool
}

func openCSV(ctx context.Context, in Input, o ReadOptions) (Source, error) {
	o = o.WithDefaults()
	if d := o.CSV.Delimiter; d == '"' || d == '\n' || d == '\r' || d >= utf8.RuneSelf {
		return nil, fmt.Errorf("delimiter %q: use another ASCII character", d)
	}
	s := &csvSource{recordSource: recordSource{in: in, o: o}}
	if err := s.open(); err != nil {
		in.Close()
		return nil, err
	}
	return s, nil
}

func (s *csvSource) open() error {
	sample, whole, err := readSample(s.in.Reader, s.o.SampleBytes)
	if err != nil {
		return s.wrap(err)
	}
	var guesses []guess
	for {
		if guesses, err = s.infer(sample, whole); err == nil {
			break
		}
		if !errors.Is(err, errSampleShort) {
			return s.wrap(err)
		}
		if sample, whole, err = growSample(s.in.Reader, sample, s.o.MaxRecordBytes); err != nil {
			return s.wrap(err)
		}
	}
	s.scan = newCSVScanner(io.MultiReader(bytes.NewReader(sample), s.in.Reader), s.o.CSV.Delimiter, s.o.MaxRecordBytes)
	s.scan.width = len(s.names)
	if err := s.start(); err != nil {
		return s.wrap(err)
	}
	return s.bind(guesses)
}

// start passes what comes before the data.
func (s *csvSource) start() error {
	if err := s.scan.skipBOM(); err != nil || s.o.CSV.NoHeader || len(s.names) == 0 {
		return err
	}
	width := s.scan.width
	s.scan.width = 0
	_, err := s.scan.next()
	s.scan.width = width
	return err
}

// infer reads the names and the kinds of the values from the sample.
func (s *csvSource) infer(sample []byte, whole bool) ([]guess, error) {
	scan := newCSVScanner(bytes.NewReader(sample), s.o.CSV.Delimiter, 0)
	if err := scan.skipBOM(); err != nil {
		return nil, err
	}
	cut := func(err error) bool { // the record may go on behind the sample
		return !whole && (err != nil || scan.passed == len(scan.bytes()))
	}
	head, err := scan.next()
	switch {
	case cut(err):
		return nil, errSampleShort
	case err == io.EOF:
		return nil, s.name(nil)
	case err != nil:
		return nil, err
	}
	if err := s.name(head); err != nil {
		return nil, err
	}
	guesses := make([]guess, len(s.names))
	scan.width = len(s.names)
	if s.o.CSV.NoHeader {
		s.look(guesses, head)
	}
	rows := int64(0)
	for ; rows < int64(s.o.SampleRows); rows++ {
		cells, err := scan.next()
		if cut(err) {
			if rows == 0 && !s.o.CSV.NoHeader {
				return nil, errSampleShort
			}
			break
		}
		if err == io.EOF {
			break
		}
		if err != nil {
			return nil, err
		}
		s.look(guesses, cells)
	}
	total := s.in.Size
	if whole {
		total = int64(len(sample))
	}
	s.guess(rows, scan.read-int64(len(scan.bytes()))+int64(scan.passed), total)
	return guesses, nil
}

// name takes the column names from the header, or makes them.
func (s *csvSource) name(head []cell) error {
	s.names = s.names[:0]
	for i, c := range head {
		switch {
		case !s.o.CSV.NoHeader:
			if !utf8.Valid(c.text) {
				return fmt.Errorf("column name %q %w", clip(string(c.text)), errUTF8)
			}
			s.names = append(s.names, string(c.text))
		case len(s.o.Schema) == 0:
			s.names = append(s.names, fmt.Sprintf("column%d", i+1))
		}
	}
	if s.o.CSV.NoHeader && len(s.o.Schema) > 0 {
		for _, f := range s.o.Schema {
			s.names = append(s.names, f.Name)
		}
		if head != nil && len(head) != len(s.names) {
			return fmt.Errorf("the first record has %d fields, but the schema lists %d columns (it names them all when there is no header)", len(head), len(s.names))
		}
	}
	return nil
}

// look counts the kinds of the cells of one record. Records of another width
// are errors later, with their line.
func (s *csvSource) look(guesses []guess, cells []cell) {
	for i, c := range cells[:min(len(cells), len(guesses))] {
		if len(c.text) > 0 && !s.isNull(c) {
			guesses[i].addText(c.text)
		}
	}
}

func (s *csvSource) isNull(c cell) bool {
	if c.quoted {
		return false
	}
	if len(c.text) == 0 {
		return true
	}
	for _, n := range s.o.CSV.Nulls {
		if string(c.text) == n {
			return true
		}
	}
	return false
}

// bind decides the types and makes the builders.
func (s *csvSource) bind(guesses []guess) error {
	fixed, err := s.fixedFields()
	if err != nil {
		return err
	}
	said := notices{give: s.o.Notice}
	fields := make([]arrow.Field, len(s.names))
	strict := make([]strictness, len(s.names))
	for i, name := range s.names {
		if f, ok := fixed[i]; ok {
			fields[i] = f
			continue
		}
		strict[i] = inferred
		t, notice, ok := arrow.DataType(nil), "", false
		if i < len(guesses) {
			t, notice, ok = guesses[i].resolve()
		}
		if !ok {
			t = arrow.BinaryTypes.String
			if notice != "" {
				said.add("column %q is kept as text: it has %s", name, notice)
			}
		} else if notice != "" {
			said.add("column %q: %s", name, notice)
		}
		fields[i] = arrow.Field{Name: name, Type: t, Nullable: true}
	}
	said.end()
	return s.build(fields, strict)
}

// fixedFields are the fields that the caller fixed, by position: by name (the
// second column of a name has the second field of that name, if there is one),
// or in order where there is no header.
func (s *csvSource) fixedFields() (map[int]arrow.Field, error) {
	at := map[int]arrow.Field{}
	if s.o.CSV.NoHeader {
		for i, f := range s.o.Schema {
			at[i] = f
		}
		return at, nil
	}
	named := make(map[string][]arrow.Field, len(s.o.Schema))
	for _, f := range s.o.Schema {
		named[f.Name] = append(named[f.Name], f)
	}
	used := map[string]int{}
	for i, name := range s.names {
		if fs := named[name]; len(fs) > 0 {
			at[i] = fs[min(used[name], len(fs)-1)]
			used[name]++
		}
	}
	for _, f := range s.o.Schema {
		if used[f.Name] == 0 {
			return nil, fmt.Errorf("column %q of the schema is not in %s (its columns: %s)", f.Name, s.in.Name, listNames(s.names))
		}
	}
	return at, nil
}

func listNames(names []string) string {
	if len(names) > 12 {
		return strings.Join(names[:12], ", ") + ", …"
	}
	return strings.Join(names, ", ")
}

func (s *csvSource) build(fields []arrow.Field, strict []strictness) error {
	keep, err := project(fields, s.o.Columns)
	if err != nil {
		return s.wrap(err)
	}
	out := make([]arrow.Field, len(keep))
	for k, i := range keep {
		out[k] = fields[i]
	}
	s.schema = arrow.NewSchema(out, nil)
	s.builder = array.NewRecordBuilder(s.o.Allocator, s.schema)
	s.columns = make([]csvColumn, len(fields))
	for k, i := range keep {
		b := s.builder.Field(k)
		set, err := newCellSetter(b, strict[i])
		if err != nil {
			return fmt.Errorf("column %q: %w", fields[i].Name, err)
		}
		s.columns[i] = csvColumn{set: set, builder: b, empty: hasEmpty(fields[i].Type), nullable: fields[i].Nullable}
	}
	return nil
}

// project gives the positions of the asked columns; all for nil.
func project(fields []arrow.Field, columns []string) ([]int, error) {
	var keep []int
	if columns == nil {
		for i := range fields {
			keep = append(keep, i)
		}
		return keep, nil
	}
	for _, c := range columns {
		i := slices.IndexFunc(fields, func(f arrow.Field) bool { return f.Name == c })
		if i < 0 {
			return nil, fmt.Errorf("no column named %q", c)
		}
		keep = append(keep, i)
	}
	return keep, nil
}

// newCellSetter is [newSetter], with JSON for the nested types.
func newCellSetter(b array.Builder, strict strictness) (setter, error) {
	switch b.(type) {
	case *array.StructBuilder, array.ListLikeBuilder: // maps too
		set, err := newJSONSetter(b, strict)
		if err != nil {
			return nil, err
		}
		scan := new(jsonScanner)
		return func(text []byte) error {
			scan.reset(text)
			if err := set(scan); err != nil {
				return err
			}
			if scan.peek(); scan.i < len(text) {
				return scan.unexpected()
			}
			return nil
		}, nil
	}
	return newSetter(b, strict)
}

// hasEmpty tells whether a type has an empty value that text can stand for.
func hasEmpty(t arrow.DataType) bool {
	switch t := t.(type) {
	case arrow.BinaryDataType:
		return true
	case *arrow.FixedSizeBinaryType:
		return t.ByteWidth == 0
	case *arrow.DictionaryType:
		return hasEmpty(t.ValueType)
	case arrow.ExtensionType:
		return t.ExtensionName() != "arrow.json" && hasEmpty(t.StorageType())
	}
	return false
}

// Rows implements [Source].
func (s *csvSource) Rows() (int64, bool) { return s.estimate(s.scan.read - int64(len(s.scan.bytes()))) }

// Next implements [Source].
func (s *csvSource) Next(ctx context.Context) (arrow.RecordBatch, error) {
	if len(s.names) == 0 {
		return nil, io.EOF
	}
	n, err := s.fill(ctx, func() (int, error) {
		cells, err := s.scan.next()
		if err != nil {
			return 0, s.wrap(err)
		}
		return s.scan.passed, s.add(cells)
	})
	if err != nil {
		return nil, err
	}
	if len(s.schema.Fields()) == 0 {
		return array.NewRecordBatch(s.schema, nil, n), nil
	}
	return s.builder.NewRecordBatch(), nil
}

func (s *csvSource) add(cells []cell) error {
	if len(cells) != len(s.columns) {
		return fmt.Errorf("a record has %d fields, not %d (line %d of %s)", len(cells), len(s.columns), s.scan.atLine, s.in.Name)
	}
	for i := range cells {
		c, col := cells[i], &s.columns[i]
		if col.set == nil {
			continue
		}
		if s.isNull(c) || c.quoted && len(c.text) == 0 && !col.empty {
			if !col.nullable {
				return s.misfit(i, c, errors.New("null in a column that is declared not null"))
			}
			col.builder.AppendNull()
			continue
		}
		if err := col.set(c.text); err != nil {
			return s.misfit(i, c, err)
		}
	}
	return nil
}

func (s *csvSource) misfit(i int, c cell, err error) error {
	f := arrow.Field{Name: s.names[i], Type: arrow.BinaryTypes.String, Nullable: true}
	remedy := fmt.Sprintf("--schema %s keeps the column as text", shellQuote(strings.ReplaceAll(FieldText(f), ": ", ":")))
	if errors.Is(err, errUTF8) {
		remedy = ""
	}
	return &ValueError{Column: s.names[i], Value: clip(string(c.text)), Line: s.scan.atLine, Input: s.in.Name, Err: err, Remedy: remedy}
}

// shellQuote quotes an argument where a shell needs it.
func shellQuote(s string) string {
	if strings.ContainsAny(s, " \t\"$&|;<>()*?[]#~`\\!{}") && !strings.Contains(s, "'") {
		return "'" + s + "'"
	}
	return s
}

var errSampleShort = errors.New("the sample is shorter than a record")

// readSample reads up to n bytes; whole says that the input ends there.
func readSample(r io.Reader, n int64) (sample []byte, whole bool, err error) {
	sample, err = io.ReadAll(io.LimitReader(r, n))
	return sample, int64(len(sample)) < n, err
}

// growSample reads as much again, for a record longer than the sample.
func growSample(r io.Reader, sample []byte, most int) ([]byte, bool, error) {
	if len(sample) > most {
		return nil, false, fmt.Errorf("a record is longer than %d bytes", most)
	}
	more, whole, err := readSample(r, int64(len(sample)))
	return append(sample, more...), whole, err
}
