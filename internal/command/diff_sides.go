package command

import (
	"context"
	"errors"
	"io"
	"slices"
	"strings"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/amudai/amudai-go/internal/command/diff"
	"github.com/amudai/amudai-go/internal/command/formats"
	"github.com/amudai/amudai-go/internal/format/schema"
	"github.com/amudai/amudai-go/internal/text"
	"github.com/amudai/amudai-go/internal/text/values"
	"github.com/amudai/amudai-go/table"
)

// diffSide is one of the tables of diff.
type diffSide struct {
	src table.Source
	u   *formats.Union
}

func (s *diffSide) close() error {
	var err error
	if s.src != nil {
		err = s.src.Close()
	}
	if s.u != nil {
		err = errors.Join(err, s.u.Close())
	}
	*s = diffSide{}
	return err
}

func closeSides(sides [2]diffSide) error { return errors.Join(sides[0].close(), sides[1].close()) }

// openSides opens both tables. If one is text, its columns are read in the types of the other one where the text alone does not
// tell them. The caller closes the sides, even after an error.
func (a *app) openSides(ctx context.Context, locations []string, t formats.TableFlags) (sides [2]diffSide, err error) {
	for i, location := range locations {
		if err := a.openSide(ctx, &sides[i], location, t, formats.TablesOptions{}); err != nil {
			return sides, err
		}
	}
	for i := range sides {
		s, other := &sides[i], sides[1-i]
		if !isInferred(s.u) || isInferred(other.u) || !s.u.Rereadable() {
			continue
		}
		if t.Read.Types, err = a.fitting(ctx, locations[i], t, untold(s.src.Schema(), other.src.Schema())); err != nil {
			return sides, err
		}
		if len(t.Read.Types) > 0 {
			if err := errors.Join(s.close(), a.openSide(ctx, s, locations[i], t, formats.TablesOptions{Silent: true})); err != nil {
				return sides, err
			}
		}
	}
	return sides, nil
}

func (a *app) openSide(ctx context.Context, s *diffSide, location string, t formats.TableFlags, o formats.TablesOptions) (err error) {
	if s.u, err = a.opener.Union(ctx, []string{location}, &t); err != nil {
		return err
	}
	s.src, err = s.u.Open(ctx, o)
	return err
}

// fitting lists the fields that all values of a text fit. It reads these columns.
func (a *app) fitting(ctx context.Context, location string, t formats.TableFlags, fields []arrow.Field) ([]arrow.Field, error) {
	for len(fields) > 0 {
		t.Read.Types = fields
		columns := make([]string, len(fields))
		for i, f := range fields {
			columns[i] = schema.Escape(f.Name)
		}
		err := a.readSide(ctx, location, t, columns)
		var misfit *table.ValueError
		if err == nil || ctx.Err() != nil {
			return fields, err
		}
		if !errors.As(err, &misfit) {
			return nil, nil // text cannot have these types, or the comparison will meet the error again
		}
		n := len(fields)
		fields = slices.DeleteFunc(fields, func(f arrow.Field) bool { return strings.HasPrefix(misfit.Column, f.Name) })
		if len(fields) == n {
			return nil, nil
		}
	}
	return nil, nil
}

// readSide reads columns to their end.
func (a *app) readSide(ctx context.Context, location string, t formats.TableFlags, columns []string) (err error) {
	var s diffSide
	defer func() { err = errors.Join(err, s.close()) }()
	if err := a.openSide(ctx, &s, location, t, formats.TablesOptions{Columns: columns, Silent: true}); err != nil {
		return err
	}
	for {
		b, err := s.src.Next(ctx)
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
		b.Release()
	}
}

// isInferred reports whether the types of all inputs are inferred from text.
func isInferred(u *formats.Union) bool {
	for _, f := range u.Formats {
		if !f.Casts || !formats.IsText(f) {
			return false
		}
	}
	return true
}

// untold lists columns with the types that they have in another table, if their text may be of this type, but was not
// inferred as it.
func untold(inferred, typed *arrow.Schema) (fields []arrow.Field) {
	for _, f := range inferred.Fields() {
		at := typed.FieldIndices(f.Name)
		if len(at) != 1 || len(inferred.FieldIndices(f.Name)) != 1 {
			continue
		}
		if t := diff.WithoutLayout(typed.Field(at[0]).Type); mayBe(f.Type, t) && hasText(t) {
			fields = append(fields, arrow.Field{Name: f.Name, Type: t, Nullable: true})
		}
	}
	return fields
}

// mayBe reports whether text that was inferred as a type may be values of another one.
func mayBe(inferred, t arrow.DataType) bool {
	id := t.ID()
	switch {
	case arrow.IsInteger(inferred.ID()) || inferred.ID() == arrow.FLOAT64:
		return arrow.IsFloating(id) || arrow.IsDecimal(id)
	case inferred.ID() == arrow.STRING:
		switch id {
		case arrow.STRING, arrow.LARGE_STRING, arrow.STRING_VIEW, arrow.NULL, arrow.BOOL, arrow.DATE32, arrow.DATE64, arrow.TIMESTAMP:
			return false // it would have been inferred
		}
		return true
	}
	_, nested := inferred.(arrow.NestedType)
	return nested || inferred.ID() == arrow.EXTENSION
}

// hasText reports whether values of a type are read from text.
func hasText(t arrow.DataType) bool {
	b := array.NewBuilder(memory.DefaultAllocator, t)
	defer b.Release()
	_, err := values.NewCellSetter(b, text.Lenient)
	return err == nil
}
