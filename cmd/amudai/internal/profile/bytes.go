package profile

import (
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/amudai/amudai-go/cmd/amudai/internal/formats"
	engine "github.com/amudai/amudai-go/internal/engine/profile"
	"github.com/amudai/amudai-go/table/provider"
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
	in, f, err := a.Opener.Input(ctx, location, from)
	if err != nil {
		return false, err
	}
	defer func() { err = errors.Join(err, in.Close()) }()
	if in.Location == "" {
		return false, nil // compressed
	}
	if f.Name == formats.Shard {
		out, err := f.Inspect(ctx, in, provider.InspectOptions{Stats: true})
		if err == nil {
			addNodes(all, out, p)
		}
		return true, err
	}
	all.Bytes += max(in.Size, 0)
	if f.Statistics == nil {
		return false, nil
	}
	s, err := f.Statistics(ctx, in, nil)
	if err != nil || s == nil {
		return false, err
	}
	for _, c := range s.Columns {
		if !slices.ContainsFunc(p.Columns, func(x *engine.Column) bool { return x.Depth == 0 && x.Path == c.Path }) {
			continue
		}
		if c.Bytes < 0 {
			return false, nil
		}
		part(all, c.Path).Bytes += c.Bytes
	}
	return true, nil
}

// addNodes adds the columns of a profile from a list of all nodes of a schema, each before those below it, which are parts of it, as its
// encodings are.
func addNodes(all *ColumnBytes, o *provider.Outline, p *engine.Profile) {
	total, _ := o.Fact("bytes").(int64)
	all.Bytes += total
	wanted := map[string]bool{}
	for _, c := range p.Columns {
		wanted[c.Path] = c.Depth == 0
	}
	var list []node
	for _, l := range o.Lists {
		path, bytes, encodings := slices.Index(l.Columns, "column"), slices.Index(l.Columns, "bytes"), slices.Index(l.Columns, "encodings")
		for _, row := range l.Rows {
			n := node{path: row[path].(string), bytes: row[bytes].(int64), encodings: slices.Clone(row[encodings].([]provider.Fact))}
			slices.SortFunc(n.encodings, func(x, y provider.Fact) int { return strings.Compare(x.Name, y.Name) })
			list = append(list, n)
		}
	}
	for len(list) > 0 {
		n := below(list)
		if wanted[list[0].path] {
			merge(part(all, list[0].path), list[:n])
		}
		list = list[n:]
	}
}

// node is what is stored of a node of the schema, without those below it.
type node struct {
	path      string
	bytes     int64
	encodings []provider.Fact
}

// below is the number of nodes from the first one to the last below it.
func below(list []node) int {
	n := 1
	for n < len(list) && strings.HasPrefix(list[n].path, list[0].path+".") {
		n++
	}
	return n
}

// merge adds a node, and those below it, to a column.
func merge(c *ColumnBytes, list []node) {
	for _, n := range list {
		c.Bytes += n.bytes
	}
	for _, e := range list[0].encodings {
		part(c, e.Name).Bytes += e.Value.(int64)
	}
	for rest := list[1:]; len(rest) > 0; {
		n := below(rest)
		merge(part(c, rest[0].path), rest[:n])
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
