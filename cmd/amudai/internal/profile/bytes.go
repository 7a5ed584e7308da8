package profile

import (
	"context"
	"errors"
	"slices"
	"strings"

	engine "github.com/amudai/amudai-go/internal/engine/profile"
	"github.com/amudai/amudai-go/table"
)

// storedBytes are the bytes that inputs record for the columns of a profile. If one of them records none, they are estimates of the values in
// memory.
func (a group) storedBytes(ctx context.Context, args []string, from string, p *engine.Profile) (Bytes, error) {
	var all ColumnBytes // whose parts are the columns
	for _, location := range args {
		known, err := a.addBytes(ctx, &all, location, from, p)
		if !known || err != nil {
			return Bytes{Estimated: true}, err
		}
	}
	out := Bytes{Columns: all.Parts, Total: all.Bytes}
	for _, c := range p.Columns {
		if c.Depth == 0 && !slices.ContainsFunc(out.Columns, func(x ColumnBytes) bool { return x.Path == c.Path }) {
			return Bytes{Estimated: true}, nil
		}
	}
	return out, nil
}

// addBytes adds the bytes of one input, if they are known.
func (a group) addBytes(ctx context.Context, all *ColumnBytes, location, from string, p *engine.Profile) (known bool, err error) {
	if location == "-" {
		return false, nil
	}
	t, err := a.Opener.Table(ctx, location, from)
	if err != nil {
		return false, err
	}
	defer func() { err = errors.Join(err, t.Close()) }()
	s, err := t.Stored(ctx)
	if s == nil || err != nil {
		return false, err
	}
	all.Bytes += s.Bytes
	for fields := s.Fields; len(fields) > 0; {
		n := below(fields)
		if slices.ContainsFunc(p.Columns, func(c *engine.Column) bool { return c.Depth == 0 && c.Path == fields[0].Path }) {
			add(all, fields[:n])
		}
		fields = fields[n:]
	}
	return true, nil
}

// below is the number of fields from the first one to the last below it.
func below(list []table.StoredField) int {
	n := 1
	for n < len(list) && strings.HasPrefix(list[n].Path, list[0].Path+".") {
		n++
	}
	return n
}

// add adds a field to another one, with its encodings and those below it as its parts.
func add(to *ColumnBytes, list []table.StoredField) {
	c := part(to, list[0].Path)
	c.Bytes += list[0].Bytes
	encodings := slices.Clone(list[0].Encodings)
	slices.SortFunc(encodings, func(x, y table.Fact) int { return strings.Compare(x.Name, y.Name) })
	for _, e := range encodings {
		part(c, e.Name).Bytes += e.Value.(int64)
	}
	for rest := list[1:]; len(rest) > 0; {
		n := below(rest)
		add(c, rest[:n])
		rest = rest[n:]
	}
}

// part is the part of a column with a name.
func part(c *ColumnBytes, name string) *ColumnBytes {
	i := slices.IndexFunc(c.Parts, func(x ColumnBytes) bool { return x.Path == name })
	if i < 0 {
		i = len(c.Parts)
		c.Parts = append(c.Parts, ColumnBytes{Path: name})
	}
	return &c.Parts[i]
}
