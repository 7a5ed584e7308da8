package profile

import (
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/amudai/amudai-go/cmd/amudai/internal/formats"
	engine "github.com/amudai/amudai-go/internal/engine/profile"
	"github.com/amudai/amudai-go/shard"
)

// storedBytes are the bytes that inputs record for the columns of a profile. If one of them records none, they are estimates of the values in
// memory.
func (a group) storedBytes(ctx context.Context, args []string, from string, p *engine.Profile) (Bytes, error) {
	var b byteTree
	for _, location := range args {
		known, err := a.addBytes(ctx, &b, location, from, p)
		if !known || err != nil {
			return Bytes{Estimated: true}, err
		}
	}
	out := Bytes{Columns: b.list(), Total: b.total}
	for _, c := range p.Columns {
		if c.Depth == 0 && !slices.ContainsFunc(out.Columns, func(x ColumnBytes) bool { return x.Path == c.Path }) {
			return Bytes{Estimated: true}, nil
		}
	}
	return out, nil
}

// addBytes adds the bytes of one input, if they are known.
func (a group) addBytes(ctx context.Context, b *byteTree, location, from string, p *engine.Profile) (known bool, err error) {
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
	b.total += max(in.Size, 0)
	if f.Name == formats.Shard {
		return true, a.Opener.WithShard(ctx, location, func(s *shard.Shard) error {
			b.total += s.Size() - max(in.Size, 0)
			sizes, err := s.Summaries(ctx, shard.InspectOptions{})
			b.addShard(sizes, p)
			return err
		})
	}
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
		b.at(c.Path).Bytes += c.Bytes
	}
	return true, nil
}

// byteTree adds up the bytes of columns.
type byteTree struct {
	total   int64
	columns []*ColumnBytes
}

func (b *byteTree) at(path string) *ColumnBytes {
	for _, c := range b.columns {
		if c.Path == path {
			return c
		}
	}
	c := &ColumnBytes{Path: path}
	b.columns = append(b.columns, c)
	return c
}

// addShard adds the nodes of the columns of a profile, and within them those below and the encodings.
func (b *byteTree) addShard(sizes []*shard.ColumnSummary, p *engine.Profile) {
	wanted := map[string]bool{}
	for _, c := range p.Columns {
		wanted[c.Path] = c.Depth == 0
	}
	for i := 0; i < len(sizes); {
		end := i + 1
		for end < len(sizes) && sizes[end].Depth > sizes[i].Depth {
			end++
		}
		if wanted[sizes[i].Path] {
			b.merge(b.at(sizes[i].Path), sizes[i:end])
		}
		i = end
	}
}

// merge adds a node, and those below it, to a column.
func (b *byteTree) merge(c *ColumnBytes, sizes []*shard.ColumnSummary) {
	for _, s := range sizes {
		c.Bytes += s.Bytes
	}
	own := sizes[0]
	for _, e := range slices.SortedFunc(slices.Values(own.Encodings), func(x, y shard.EncodingShare) int { return strings.Compare(x.Encoding, y.Encoding) }) {
		part(c, e.Encoding).Bytes += e.Bytes
	}
	for i := 1; i < len(sizes); {
		end := i + 1
		for end < len(sizes) && sizes[end].Depth > sizes[i].Depth {
			end++
		}
		b.merge(part(c, sizes[i].Path), sizes[i:end])
		i = end
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

func (b *byteTree) list() []ColumnBytes {
	out := make([]ColumnBytes, len(b.columns))
	for i, c := range b.columns {
		out[i] = *c
	}
	return out
}
