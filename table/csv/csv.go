// Package csv reads and writes comma-separated values after RFC 4180, with a
// header record, as Arrow record batches.
//
// A field without text is null. A quoted field without text ("") is the empty string in a column of text or bytes,
// and null in other columns, which have no empty value. The writer quotes empty strings, so that both come back. In a
// file with one column, an empty line is a null.
package csv

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"

	"github.com/amudai/amudai-go/internal/arrow/extension"
	"github.com/amudai/amudai-go/internal/text"
	"github.com/amudai/amudai-go/internal/text/values"
	"github.com/amudai/amudai-go/table"
	"github.com/amudai/amudai-go/table/internal/records"
)

func init() {
	table.Register(New(Options{}))
	table.Register(NewTSV(Options{}))
}

// Options are the options that only CSV has. The zero value is the default.
type Options struct {
	Text      table.TextOptions
	Delimiter byte     // default ',', of TSV a tab
	NoHeader  bool     // the first record is data; columns are named column1, column2, …; no header is written
	Nulls     []string // when reading: unquoted fields that mean null, beside the empty one
	Null      string   // when writing: the text of a null; default: an empty field
}

// New returns the format CSV with some options.
func New(o Options) table.Format {
	if o.Delimiter == 0 {
		o.Delimiter = ','
	}
	return format("csv", "CSV", o, ".csv")
}

// NewTSV returns the format with tabs in place of commas.
func NewTSV(o Options) table.Format {
	if o.Delimiter == 0 {
		o.Delimiter = '\t'
	}
	return format("tsv", "TSV", o, ".tsv", ".tab")
}

func format(name, title string, o Options, extensions ...string) table.Format {
	o.Text = o.Text.WithDefaults()
	return table.Format{
		Name: name, Title: title, Extensions: extensions, Casts: true,
		Reader: func(ctx context.Context, in table.Input, ro table.ReadOptions) (table.Source, error) {
			return open(ctx, in, ro, o)
		},
		Writer: func(ctx context.Context, out table.Output, schema *arrow.Schema, _ table.WriteOptions) (table.Sink, error) {
			return create(ctx, out, schema, o)
		},
	}
}

type source struct {
	records.Source
	o       Options
	scan    *scanner
	names   []string
	columns []column // by position in the file
	wanted  *table.Projection
}

// column appends the cells of one column. set is nil for a column that is not requested.
type column struct {
	set      values.Setter
	builder  array.Builder
	empty    bool // "" is an empty value, not null
	nullable bool
}

func open(ctx context.Context, in table.Input, ro table.ReadOptions, o Options) (table.Source, error) {
	if d := o.Delimiter; d == '"' || d == '\n' || d == '\r' || d >= utf8.RuneSelf {
		return nil, errors.Join(fmt.Errorf("delimiter %q: use another ASCII character", d), in.Close())
	}
	s := &source{Source: records.Source{In: in, Options: ro.WithDefaults(), Text: o.Text}, o: o}
	if err := s.open(ctx); err != nil {
		in.Close()
		return nil, err
	}
	return s, nil
}

func (s *source) open(ctx context.Context) error {
	sample, whole, err := records.ReadSample(ctx, s.In.Reader, s.Text.SampleBytes)
	if err != nil {
		return s.Wrap(err)
	}
	var guesses []records.Guess
	for {
		if guesses, err = s.infer(sample, whole); err == nil {
			break
		}
		if !errors.Is(err, records.ErrSampleShort) {
			return s.Wrap(err)
		}
		if sample, whole, err = records.GrowSample(ctx, s.In.Reader, sample, s.Text.MaxRecordBytes); err != nil {
			return s.Wrap(err)
		}
	}
	s.scan = newScanner(io.MultiReader(bytes.NewReader(sample), s.In.Reader), s.o.Delimiter, s.Text.MaxRecordBytes)
	s.scan.width = len(s.names)
	if err := s.start(); err != nil {
		return s.Wrap(err)
	}
	return s.bind(guesses)
}

// start skips a byte order mark and the header.
func (s *source) start() error {
	if err := s.scan.SkipBOM(); err != nil || s.o.NoHeader || len(s.names) == 0 {
		return err
	}
	width := s.scan.width
	s.scan.width = 0
	_, err := s.scan.next()
	s.scan.width = width
	return err
}

// infer reads the header, and infers types from the sample.
func (s *source) infer(sample []byte, whole bool) ([]records.Guess, error) {
	scan := newScanner(bytes.NewReader(sample), s.o.Delimiter, 0)
	if err := scan.SkipBOM(); err != nil {
		return nil, err
	}
	cut := func(err error) bool { // the record may extend beyond the sample
		return !whole && (err != nil || scan.passed == len(scan.Bytes()))
	}
	head, err := scan.next()
	switch {
	case cut(err):
		return nil, records.ErrSampleShort
	case err == io.EOF:
		s.Options.Warning(s.In.Name + " is empty: the table has no columns")
		return nil, s.name(nil)
	case err != nil:
		return nil, err
	}
	if err := checkLineEnds(sample, head); err != nil {
		return nil, err
	}
	if err := s.name(head); err != nil {
		return nil, err
	}
	other := s.otherDelimiter(head)
	guesses := make([]records.Guess, len(s.names))
	scan.width = len(s.names)
	if s.o.NoHeader {
		s.look(guesses, head)
	}
	rows := int64(0)
	for ; rows < int64(s.Text.SampleRows); rows++ {
		cells, err := scan.next()
		if cut(err) {
			if rows == 0 && !s.o.NoHeader {
				return nil, records.ErrSampleShort
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
	if other != 0 {
		s.Options.Warning(fmt.Sprintf("%s has one column of fields separated by %q: --delimiter %s splits them", s.In.Name, other, delimiterName(other)))
	}
	total := s.In.Size
	if whole {
		total = int64(len(sample))
	}
	s.Guess(rows, scan.Used()+int64(scan.passed), total)
	return guesses, nil
}

// checkLineEnds refuses lines that end in a carriage return alone: the whole file would be the header.
func checkLineEnds(sample []byte, head []cell) error {
	if bytes.IndexByte(sample, '\n') >= 0 {
		return nil
	}
	for _, c := range head {
		if !c.quoted && bytes.IndexByte(c.text, '\r') >= 0 {
			return errors.New(`the lines end in a carriage return alone, which is not supported (tr '\r' '\n' converts them)`)
		}
	}
	return nil
}

// otherDelimiter returns the likely delimiter of a file with a single column, or 0.
func (s *source) otherDelimiter(head []cell) byte {
	if len(head) != 1 || head[0].quoted {
		return 0
	}
	for _, c := range []byte("\t;|,") {
		if c != s.o.Delimiter && bytes.IndexByte(head[0].text, c) >= 0 {
			return c
		}
	}
	return 0
}

// delimiterName returns a delimiter in the syntax of the command.
func delimiterName(c byte) string {
	if c == '\t' {
		return "tab"
	}
	return records.ShellQuote(string(rune(c)))
}

// name takes the column names from the header, or makes them.
func (s *source) name(head []cell) error {
	s.names = s.names[:0]
	for i, c := range head {
		switch {
		case !s.o.NoHeader:
			if !utf8.Valid(c.text) {
				return fmt.Errorf("column name %q %w", text.Clip(string(c.text)), text.ErrUTF8)
			}
			s.names = append(s.names, string(c.text))
		case len(s.Options.Schema) == 0:
			s.names = append(s.names, fmt.Sprintf("column%d", i+1))
		}
	}
	if s.o.NoHeader && len(s.Options.Schema) > 0 {
		for _, f := range s.Options.Schema {
			s.names = append(s.names, f.Name)
		}
		if head != nil && len(head) != len(s.names) {
			return fmt.Errorf("the first record has %d %s, but the schema lists %d: without a header it must list all columns", len(head), text.Plural(len(head), "field"), len(s.names))
		}
	}
	return nil
}

// look adds the cells of one record to the guesses of the types. A record with another number of fields is an error
// later, with its line.
func (s *source) look(guesses []records.Guess, cells []cell) {
	for i, c := range cells[:min(len(cells), len(guesses))] {
		if len(c.text) > 0 && !s.isNull(c) {
			guesses[i].Add(c.text)
		}
	}
}

func (s *source) isNull(c cell) bool {
	if c.quoted {
		return false
	}
	if len(c.text) == 0 {
		return true
	}
	for _, n := range s.o.Nulls {
		if string(c.text) == n {
			return true
		}
	}
	return false
}

// bind resolves the types and makes the builders.
func (s *source) bind(guesses []records.Guess) error {
	fixed, err := s.fixedFields()
	if err != nil {
		return err
	}
	said := records.Notices{Give: s.Options.Notice}
	fields := make([]arrow.Field, len(s.names))
	modes := make([]text.Mode, len(s.names))
	for i, name := range s.names {
		if f, ok := fixed[i]; ok {
			fields[i] = f
			continue
		}
		modes[i] = text.Strict
		t, notice, ok := arrow.DataType(nil), "", false
		if i < len(guesses) {
			t, notice, ok = guesses[i].Resolve()
		}
		if !ok {
			t = arrow.BinaryTypes.String
			if notice != "" {
				said.Add("column %q is kept as text: it has %s", name, notice)
			}
		} else if notice != "" {
			said.Add("column %q: %s", name, notice)
		}
		fields[i] = arrow.Field{Name: name, Type: t, Nullable: true}
	}
	said.End()
	return s.build(fields, modes)
}

// fixedFields returns the fields of the caller's schema by position. They are found by name: the second column of a
// name has the second field of that name, if there is one. Without a header they are in order.
func (s *source) fixedFields() (map[int]arrow.Field, error) {
	at := map[int]arrow.Field{}
	if s.o.NoHeader {
		for i, f := range s.Options.Schema {
			at[i] = f
		}
		return at, nil
	}
	named := make(map[string][]arrow.Field, len(s.Options.Schema))
	for _, f := range s.Options.Schema {
		named[f.Name] = append(named[f.Name], f)
	}
	used := map[string]int{}
	for i, name := range s.names {
		if fs := named[name]; len(fs) > 0 {
			at[i] = fs[min(used[name], len(fs)-1)]
			used[name]++
		}
	}
	for _, f := range s.Options.Schema {
		if used[f.Name] == 0 {
			return nil, fmt.Errorf("column %q of the schema is not in %s (its columns: %s)", f.Name, s.In.Name, listNames(s.names))
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

func (s *source) build(fields []arrow.Field, modes []text.Mode) error {
	var err error
	if s.wanted, err = table.Project(arrow.NewSchema(fields, nil), s.Options.Columns); err != nil {
		return s.Wrap(err)
	}
	s.Out = s.wanted.Schema()
	whole := make([]arrow.Field, s.wanted.NumColumns())
	for k := range whole {
		whole[k] = fields[s.wanted.Index(k)]
	}
	s.Builder = array.NewRecordBuilder(s.Options.Allocator, arrow.NewSchema(whole, nil))
	s.columns = make([]column, len(fields))
	for k := range whole {
		b, i := s.Builder.Field(k), s.wanted.Index(k)
		set, err := values.NewCellSetter(b, modes[i])
		if err != nil {
			return fmt.Errorf("column %q: %w", fields[i].Name, err)
		}
		s.columns[i] = column{set: set, builder: b, empty: hasEmpty(fields[i].Type), nullable: fields[i].Nullable}
	}
	return nil
}

// hasEmpty reports whether a type has an empty value in text.
func hasEmpty(t arrow.DataType) bool {
	switch t := t.(type) {
	case arrow.BinaryDataType:
		return true
	case *arrow.FixedSizeBinaryType:
		return t.ByteWidth == 0
	case *arrow.DictionaryType:
		return hasEmpty(t.ValueType)
	case arrow.ExtensionType:
		return t.ExtensionName() != extension.NameJSON && hasEmpty(t.StorageType())
	}
	return false
}

// Rows implements [table.Source].
func (s *source) Rows() (int64, bool) { return s.Estimate(s.scan.Used()) }

// Next implements [table.Source].
func (s *source) Next(ctx context.Context) (arrow.RecordBatch, error) {
	if len(s.names) == 0 {
		return nil, io.EOF
	}
	s.scan.During(ctx)
	n, err := s.Fill(ctx, func() (int, error) {
		cells, err := s.scan.next()
		if err != nil {
			return 0, s.Wrap(err)
		}
		return s.scan.passed, s.add(cells)
	})
	if err != nil {
		return nil, err
	}
	if s.wanted.NumColumns() == 0 {
		return array.NewRecordBatch(s.Out, nil, n), nil
	}
	whole := s.Builder.NewRecordBatch()
	defer whole.Release()
	return s.wanted.Batch(whole.Columns(), n), nil
}

func (s *source) add(cells []cell) error {
	if len(cells) != len(s.columns) {
		return fmt.Errorf("a record has %d %s, not %d (line %d of %s)", len(cells), text.Plural(len(cells), "field"), len(s.columns), s.scan.atLine, s.In.Name)
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

func (s *source) misfit(i int, c cell, err error) error {
	f := arrow.Field{Name: s.names[i], Type: arrow.BinaryTypes.String, Nullable: true}
	remedy := fmt.Sprintf("--schema %s keeps the column as text", records.ShellQuote(strings.ReplaceAll(text.Field(f), ": ", ":")))
	if errors.Is(err, text.ErrUTF8) {
		remedy = ""
	}
	return &table.ValueError{Column: s.names[i], Value: text.Clip(string(c.text)), Line: s.scan.atLine, Input: s.In.Name, Err: err, Remedy: remedy}
}
