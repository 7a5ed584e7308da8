package csv

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"

	"github.com/amudai/amudai-go/internal/arrow/extension"
	"github.com/amudai/amudai-go/internal/text"
	"github.com/amudai/amudai-go/internal/text/values"
	"github.com/amudai/amudai-go/table/provider"
	"github.com/amudai/amudai-go/table/text/internal/guess"
	"github.com/amudai/amudai-go/table/text/internal/records"
)

type source struct {
	records.Source
	o          Options
	values     guess.Options
	usual      byte // the delimiter of the format
	dialect    dialect
	scan       *scanner
	names      []string
	otherNulls bool     // options have texts that mean null
	positional bool     // columns have the names of the caller's schema, in order
	columns    []column // by position in the file
	wanted     *provider.Projection
	ragged     ragged
}

// column appends the cells of one column. set is nil for a column that is not requested.
type column struct {
	set      values.Setter
	builder  array.Builder
	empty    bool // "" is an empty value, not null
	nullable bool
	inferred bool
}

// build makes the builders of the columns. inferred has the types of those that the caller's schema does not give.
func (s *source) build(fields []arrow.Field, inferred []guess.Resolved) error {
	var err error
	if s.wanted, err = provider.Project(arrow.NewSchema(fields, nil), s.Options.Columns); err != nil {
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
		mode := text.Lenient
		if inferred[i].Type != nil {
			mode = text.Strict
		}
		set, err := values.NewCellSetter(b, mode)
		if err != nil {
			return fmt.Errorf("column %q: %w", fields[i].Name, err)
		}
		t := fields[i].Type
		s.columns[i] = column{set: inferred[i].Setter(set, t, &s.values), builder: b, empty: hasEmpty(t), nullable: fields[i].Nullable,
			inferred: inferred[i].Type != nil}
	}
	return nil
}

// hasEmpty reports whether a type has an empty value in text.
func hasEmpty(t arrow.DataType) bool {
	if f, ok := t.(*arrow.FixedSizeBinaryType); ok {
		return f.ByteWidth == 0
	}
	plain, name := extension.Unwrap(t)
	_, isText := plain.(arrow.BinaryDataType)
	return isText && name != extension.NameJSON
}

func (s *source) Close() error {
	s.ragged.tell(s.In.Name, s.Options.Warning)
	return s.Source.Close()
}

func (s *source) Rows() (int64, bool) { return s.Estimate(s.scan.Used()) }

func (s *source) Next(ctx context.Context) (arrow.RecordBatch, error) {
	if len(s.names) == 0 {
		return nil, nil
	}
	s.scan.During(ctx)
	n, err := s.Fill(ctx, s.record)
	if n == 0 && err == nil {
		s.ragged.tell(s.In.Name, s.Options.Warning)
	}
	if n == 0 {
		return nil, err
	}
	whole := s.Builder.NewRecordBatch()
	defer whole.Release()
	return s.wanted.Batch(whole.Columns(), n)
}

// record adds the next record that is not dropped.
func (s *source) record() (size int, err error) {
	for {
		cells, err := s.scan.next()
		if err != nil {
			return 0, s.Wrap(err)
		}
		size += s.scan.passed
		if len(cells) != len(s.columns) {
			if cells, err = s.fit(cells); err != nil {
				return 0, err
			}
			if cells == nil {
				continue
			}
		}
		return size, s.add(cells)
	}
}

func (s *source) add(cells []cell) error {
	for i := range cells {
		c, col := cells[i], &s.columns[i]
		if col.set == nil {
			continue
		}
		if s.isNull(c, col) {
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

// isNull reports whether a cell of a column is null.
func (s *source) isNull(c cell, col *column) bool {
	switch {
	case len(c.text) == 0:
		return !c.quoted || !col.empty
	case c.quoted:
		return false
	}
	return s.otherNulls && (s.isGivenNull(c) || s.o.AutoNulls && guess.AutoNull(c.text, col.empty))
}

// isGivenNull reports whether an option says that a cell is null.
func (s *source) isGivenNull(c cell) bool {
	return !c.quoted && slices.Contains(s.o.Nulls, string(c.text))
}

func (s *source) misfit(i int, c cell, err error) error {
	f := arrow.Field{Name: s.names[i], Type: arrow.BinaryTypes.String, Nullable: true}
	remedy := fmt.Sprintf("--schema %s keeps the column as text", records.ShellQuote(strings.ReplaceAll(text.Field(f), ": ", ":")))
	inferred := s.columns[i].inferred
	switch {
	case errors.Is(err, text.ErrUTF8):
		remedy, inferred = "--encoding windows-1252 reads any text of Western Europe", s.o.Encoding == ""
	case guess.IsNull(c.text) && !c.quoted:
		remedy = fmt.Sprintf("--null %s reads it as null, %s", records.ShellQuote(string(c.text)), remedy)
	case inferred:
		remedy += ", --sample all finds types that fit all rows"
	}
	return &provider.ValueError{Column: s.names[i], Value: text.Clip(string(c.text)), Line: s.scan.atLine, Input: s.In.Name, Err: err,
		Remedy: remedy, Inferred: inferred && !s.Text.AllRows}
}
