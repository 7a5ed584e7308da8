package recorded

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"github.com/amudai/amudai-go/table/provider"
)

// Stored is what inputs store, by fields. Package table, which has aliases of these types, tells more.
type Stored struct {
	Bytes  int64
	Fields []Field // each before the fields below it
}

// Field is what inputs store of a field.
type Field struct {
	Path      string
	Bytes     int64 // those of the fields below it included
	Encodings []provider.Fact
}

// In is what an input stores, or nil if it does not tell.
func In(ctx context.Context, in provider.Input, f provider.Format) (*Stored, error) {
	if in.Location == "" {
		return nil, nil // compressed
	}
	out := &Stored{Bytes: max(in.Size, 0)}
	if f.Inspect != nil {
		o, err := f.Inspect(ctx, in, provider.InspectOptions{Stats: true})
		if err != nil {
			return nil, err
		}
		if n := integer(o.Fact("bytes")); n > 0 { // of several files
			out.Bytes = n
		}
		for _, l := range o.Lists {
			if out.Fields = fieldsOf(l); out.Fields != nil {
				return out, nil
			}
		}
	}
	if f.Statistics == nil {
		return nil, nil
	}
	s, err := f.Statistics(ctx, in, nil)
	if s == nil || err != nil {
		return nil, err
	}
	for _, c := range s.Columns {
		if c.Bytes < 0 {
			return nil, nil
		}
		out.Fields = append(out.Fields, Field{Path: c.Path, Bytes: c.Bytes})
	}
	return out, nil
}

// fieldsOf are the fields in a list of all nodes of a schema, each before those below it, or nil for another list.
func fieldsOf(l provider.List) (fields []Field) {
	bytes, encodings := slices.Index(l.Columns, "bytes"), slices.Index(l.Columns, "encodings")
	if bytes < 0 || l.Columns[0] != "column" && l.Columns[0] != "field" {
		return nil
	}
	var above []int // fields that the next one may be below
	for _, row := range l.Rows {
		f := Field{Bytes: integer(row[bytes])}
		f.Path, _ = row[0].(string)
		if encodings >= 0 {
			f.Encodings, _ = row[encodings].([]provider.Fact)
		}
		for len(above) > 0 && !strings.HasPrefix(f.Path, fields[above[len(above)-1]].Path+".") {
			above = above[:len(above)-1]
		}
		for _, i := range above {
			fields[i].Bytes += f.Bytes
		}
		above = append(above, len(fields))
		fields = append(fields, f)
	}
	return fields
}

// Add adds what another input stores.
func (s *Stored) Add(o *Stored) {
	s.Bytes += o.Bytes
	at := map[string]int{}
	for i, f := range s.Fields {
		at[f.Path] = i
	}
	for _, f := range o.Fields {
		i, known := at[f.Path]
		if !known {
			s.Fields = append(s.Fields, Field{Path: f.Path})
			i = len(s.Fields) - 1
		}
		sum := &s.Fields[i]
		sum.Bytes += f.Bytes
		sum.Encodings = addEncodings(sum.Encodings, f.Encodings)
	}
}

func addEncodings(all, more []provider.Fact) []provider.Fact {
	for _, e := range more {
		i := slices.IndexFunc(all, func(x provider.Fact) bool { return x.Name == e.Name })
		if i < 0 {
			all = append(all, e)
			continue
		}
		all[i].Value = integer(all[i].Value) + integer(e.Value)
	}
	slices.SortStableFunc(all, func(a, b provider.Fact) int { return cmp.Compare(integer(b.Value), integer(a.Value)) })
	return all
}

// integer is the number of a fact.
func integer(v any) int64 {
	if n, ok := v.(uint64); ok {
		return int64(n)
	}
	n, _ := v.(int64)
	return n
}

// Pairs are what two tables store, by fields.
type Pairs struct {
	Old, New int64
	Fields   []Pair
}

// Pair is what two tables store of a field. One of them is nil if the table lacks it.
type Pair struct{ Old, New *Field }

// Compare pairs the fields of two tables: those of the old one, then those that are only in the new one.
func Compare(old, new *Stored) *Pairs {
	out := &Pairs{Old: old.Bytes, New: new.Bytes}
	at := map[string]int{}
	for i := range old.Fields {
		f := &old.Fields[i]
		at[f.Path] = len(out.Fields)
		out.Fields = append(out.Fields, Pair{Old: f})
	}
	for i := range new.Fields {
		f := &new.Fields[i]
		if k, ok := at[f.Path]; ok {
			out.Fields[k].New = f
		} else {
			out.Fields = append(out.Fields, Pair{New: f})
		}
	}
	return out
}
