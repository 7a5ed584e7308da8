package command

import (
	"context"
	"maps"
	"slices"

	"github.com/amudai/amudai-go/internal/command/formats"
	"github.com/amudai/amudai-go/internal/command/inspect"
	"github.com/amudai/amudai-go/internal/command/profile"
	engine "github.com/amudai/amudai-go/internal/engine/profile"
	"github.com/amudai/amudai-go/internal/format/shardfile"
)

// storedBytes are the bytes that inputs record for the columns of a profile. If one of them records none, they are estimates of the values in
// memory.
func (a *app) storedBytes(ctx context.Context, args []string, from string, p *engine.Profile) profile.Bytes {
	var b byteTree
	for _, location := range args {
		if !a.addBytes(ctx, &b, location, from, p) {
			return profile.Bytes{Estimated: true}
		}
	}
	out := profile.Bytes{Columns: b.list(), Total: b.total}
	for _, c := range p.Columns {
		if c.Depth == 0 && !slices.ContainsFunc(out.Columns, func(x profile.ColumnBytes) bool { return x.Path == c.Path }) {
			return profile.Bytes{Estimated: true}
		}
	}
	return out
}

// addBytes adds the bytes of one input. It returns false if these are not known.
func (a *app) addBytes(ctx context.Context, b *byteTree, location, from string, p *engine.Profile) bool {
	if location == "-" {
		return false
	}
	in, f, err := a.opener.Input(ctx, location, from)
	if err != nil {
		return false
	}
	defer in.Close()
	if in.Location == "" {
		return false // compressed
	}
	b.total += max(in.Size, 0)
	if f.Name == formats.Shard {
		err := a.withFile(ctx, location, func(s *shardfile.File) error {
			b.total += s.Size() - max(in.Size, 0)
			sizes, err := inspect.Sizes(ctx, s)
			b.addShard(sizes, p)
			return err
		})
		return err == nil
	}
	if f.Statistics == nil {
		return false
	}
	var paths []string
	for _, c := range p.Columns {
		if c.Depth == 0 {
			paths = append(paths, c.Path)
		}
	}
	s, err := f.Statistics(ctx, in, paths)
	if err != nil || s == nil {
		return false
	}
	for _, c := range s.Columns {
		if c.Bytes < 0 {
			return false
		}
		b.at(c.Path).Bytes += c.Bytes
	}
	return true
}

// byteTree adds up the bytes of columns.
type byteTree struct {
	total   int64
	columns []*profile.ColumnBytes
}

func (b *byteTree) at(path string) *profile.ColumnBytes {
	for _, c := range b.columns {
		if c.Path == path {
			return c
		}
	}
	c := &profile.ColumnBytes{Path: path}
	b.columns = append(b.columns, c)
	return c
}

// addShard adds the nodes of the columns of a profile, and within them those below and the encodings.
func (b *byteTree) addShard(sizes []inspect.ColumnSize, p *engine.Profile) {
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
func (b *byteTree) merge(c *profile.ColumnBytes, sizes []inspect.ColumnSize) {
	for _, s := range sizes {
		c.Bytes += s.Bytes
	}
	own := sizes[0]
	for _, name := range slices.Sorted(maps.Keys(own.Encodings)) {
		part(c, name).Bytes += own.Encodings[name]
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
func part(c *profile.ColumnBytes, name string) *profile.ColumnBytes {
	i := slices.IndexFunc(c.Parts, func(x profile.ColumnBytes) bool { return x.Path == name })
	if i < 0 {
		i = len(c.Parts)
		c.Parts = append(c.Parts, profile.ColumnBytes{Path: name})
	}
	return &c.Parts[i]
}

func (b *byteTree) list() []profile.ColumnBytes {
	out := make([]profile.ColumnBytes, len(b.columns))
	for i, c := range b.columns {
		out[i] = *c
	}
	return out
}
