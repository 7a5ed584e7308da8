package tables

import (
	"context"
	"slices"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/amudai/amudai-go/internal/arrow/arrowutil"
	"github.com/amudai/amudai-go/internal/base/parallel"
	"github.com/amudai/amudai-go/internal/format/schema"
	"github.com/amudai/amudai-go/internal/text/cast"
	"github.com/amudai/amudai-go/table/provider"
)

// encode gives columns the form in which all parts that have them can read them faster: dictionaries of strings, decimals of 64 bits, and
// lengths of values, as far as the options allow these. A form that only some parts have would cost those a conversion, or the others.
func (s *source) encode(ctx context.Context) error {
	candidates := s.candidates()
	if len(candidates) == 0 {
		return nil
	}
	forms := make([]map[int]arrow.Field, len(s.u.parts)) // by column
	if err := parallel.Each(ctx, len(forms), looksAtOnce, func(ctx context.Context, i int) (err error) {
		forms[i], err = s.formsOf(ctx, i, candidates)
		return err
	}); err != nil {
		return err
	}
	s.o.Dictionaries, s.o.Decimals64, s.o.Lengths = false, nil, nil
	fields := s.schema.Fields()
	for _, c := range candidates {
		form, same := arrow.Field{}, true
		for _, columns := range forms {
			if f, ok := columns[c]; ok && form.Type == nil {
				form = f
			} else if ok {
				same = same && arrow.TypeEqual(f.Type, form.Type)
			}
		}
		if !same || arrow.TypeEqual(form.Type, fields[c].Type) {
			continue
		}
		if form.Type.ID() == arrow.DICTIONARY {
			s.o.Dictionaries = true
			fields[c].Type = form.Type
		} else if arrowutil.AreLengths(form) {
			s.o.Lengths = append(s.o.Lengths, fields[c].Name)
			fields[c], _ = arrowutil.LengthsOf(fields[c])
		} else {
			s.o.Decimals64 = append(s.o.Decimals64, schema.JoinPath("", fields[c].Name))
			fields[c] = arrowutil.Decimal64(fields[c])
		}
	}
	meta := s.schema.Metadata()
	s.schema = arrow.NewSchema(fields, &meta)
	return nil
}

// candidates are the columns that parts may read in another form: they have the same type, and the same single name, everywhere.
func (s *source) candidates() (list []int) {
	for _, w := range s.wanted {
		c := s.u.columns[w.at]
		_, allowed := arrowutil.LengthsOf(c.Field)
		allowed = allowed && slices.Contains(s.o.Lengths, c.Field.Name)
		switch t := c.Field.Type.(type) {
		case *arrow.StringType, *arrow.LargeStringType, *arrow.StringViewType:
			allowed = allowed || s.o.Dictionaries
		case *arrow.Decimal128Type:
			allowed = t.Precision <= 18 && slices.Contains(s.o.Decimals64, schema.JoinPath("", c.Field.Name))
		}
		if allowed && len(w.paths) == 0 && len(s.u.schema.FieldIndices(c.Field.Name)) == 1 && !s.isConverted(c) {
			list = append(list, w.at)
		}
	}
	return list
}

// isConverted reports whether some part has a column in another type, or infers its type from text.
func (s *source) isConverted(c cast.Column) bool {
	for i, at := range c.In {
		if l := &s.u.looks[i]; at >= 0 && (l.format.Inferred || l.schema.Field(at).Name != c.Field.Name || !arrow.TypeEqual(l.schema.Field(at).Type, c.Field.Type)) {
			return true
		}
	}
	return false
}

// formsOf are those of the columns that a part has, in the form that it reads if it may choose.
func (s *source) formsOf(ctx context.Context, i int, columns []int) (map[int]arrow.Field, error) {
	ro := provider.ReadOptions{
		Allocator: s.o.Allocator, TempDir: s.o.TempDir, Schema: s.u.looks[i].casts, Columns: []string{},
		Dictionaries: s.o.Dictionaries, Decimals64: s.o.Decimals64, Lengths: s.o.Lengths,
	}
	var present []int
	for _, c := range columns {
		if at := s.u.columns[c].In[i]; at >= 0 {
			present = append(present, c)
			ro.Columns = append(ro.Columns, schema.Escape(s.u.looks[i].names[at]))
		}
	}
	if len(present) == 0 {
		return nil, nil
	}
	src, _, err := s.u.parts[i].Open(ctx, ro)
	if err != nil {
		return nil, err
	}
	forms := map[int]arrow.Field{}
	for k, c := range present {
		forms[c] = src.Schema().Field(k)
	}
	return forms, src.Close()
}
