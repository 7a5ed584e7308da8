package inspect

import (
	"context"
	"errors"
	"fmt"

	"github.com/amudai/amudai-go/encoding"
	shardpb "github.com/amudai/amudai-go/gen/amudai/shard"
	"github.com/amudai/amudai-go/internal/format/schema"
	"github.com/amudai/amudai-go/shard/internal/shardfile"
	"github.com/amudai/amudai-go/shard/internal/stripe"
)

// Part is a part of a shard with its own parts, which are read when they are asked for.
type Part struct {
	Name string // "stripe 0", the name of a column, the kind of a buffer, "block 0", or that of an encoding
	// Value describes the part: *[Stripe] with its place only, *[Column], *[Buffer], *[Block], *[Tree], a string, or an error.
	Value any
	// Parts lists the parts. It is nil for a part without any.
	Parts func(ctx context.Context) (*Parts, error)
}

// Parts is a list of parts of one kind, which are read by their numbers.
type Parts struct {
	Kind string // "stripes", "columns", "blocks"
	Len  int
	Read func(ctx context.Context, from, to int) ([]Part, error)
}

// Tree describes a part of an encoding tree.
type Tree struct {
	Type          string // "" if it is known from the part above
	Values, Bytes int
	Offset        int   // within the values of the block
	Err           error // why it cannot be read
}

// Stripes are the stripes of a shard as parts, then their columns, buffers, blocks and encoding trees. Damage within a part is a part
// with an error. The file must stay open as long as they are used.
func Stripes(ctx context.Context, f *shardfile.File) (*Parts, error) {
	in, err := newInspector(ctx, f, Options{Detail: 1})
	if err != nil {
		return nil, err
	}
	return &Parts{Kind: "stripes", Len: f.NumStripes(), Read: each(func(_ context.Context, i int) (Part, error) {
		return in.stripePart(f.Stripe(i)), nil
	})}, nil
}

// each reads parts one by one.
func each(read func(ctx context.Context, i int) (Part, error)) func(ctx context.Context, from, to int) ([]Part, error) {
	return func(ctx context.Context, from, to int) (list []Part, err error) {
		for i := from; i < to; i++ {
			p, err := read(ctx, i)
			if err != nil {
				return nil, err
			}
			list = append(list, p)
		}
		return list, ctx.Err()
	}
}

// some are parts that are read already.
func some(kind string, list []Part) *Parts {
	return &Parts{Kind: kind, Len: len(list), Read: func(_ context.Context, from, to int) ([]Part, error) { return list[from:to], nil }}
}

func (in *inspector) stripePart(st *shardfile.Stripe) Part {
	return Part{
		Name:  fmt.Sprintf("stripe %d", st.Index()),
		Value: &Stripe{Index: st.Index(), Position: st.Position(), Rows: st.Rows()},
		Parts: func(context.Context) (*Parts, error) {
			return &Parts{Kind: "columns", Len: in.schema.NumFields(), Read: each(func(ctx context.Context, i int) (Part, error) {
				n, err := in.schema.Field(i)
				if err != nil {
					return Part{}, err
				}
				return in.columnPart(ctx, st, n, schema.JoinPath("", n.Name()))
			})}, nil
		},
	}
}

// columnPart is a schema node in a stripe, with its buffers and nested nodes.
func (in *inspector) columnPart(ctx context.Context, st *shardfile.Stripe, n schema.Node, path string) (Part, error) {
	c, err := in.column(ctx, st, n, path)
	if err != nil {
		return Part{}, err
	}
	return Part{Name: displayName(n), Value: &c, Parts: func(ctx context.Context) (*Parts, error) {
		list, err := in.columnParts(ctx, st, n, path)
		return some("parts", list), err
	}}, nil
}

func (in *inspector) columnParts(ctx context.Context, st *shardfile.Stripe, n schema.Node, path string) (list []Part, err error) {
	d, err := st.Descriptor(ctx, n.ID())
	if err != nil {
		return nil, err
	}
	for _, e := range d.GetEncodings() {
		for _, b := range e.GetNative().GetBuffers() {
			p, err := in.bufferPart(ctx, st, n, e.GetNative(), b)
			if err != nil {
				return nil, err
			}
			list = append(list, p)
		}
	}
	for i := range n.NumChildren() {
		child, err := n.Child(i)
		if err != nil {
			return nil, err
		}
		name := child.Name()
		if name == "" {
			name = "item"
		}
		p, err := in.columnPart(ctx, st, child, schema.JoinPath(path, name))
		if err != nil {
			return nil, err
		}
		list = append(list, p)
	}
	return list, ctx.Err()
}

func (in *inspector) bufferPart(ctx context.Context, st *shardfile.Stripe, n schema.Node, e *shardpb.NativeDataEncoding, b *shardpb.EncodedBuffer) (Part, error) {
	info, err := in.buffer(ctx, st, n, e, b)
	if err != nil {
		return Part{}, err
	}
	p := Part{Name: info.Kind, Value: &info}
	if !stripe.HasBlocks(b) {
		return p, nil
	}
	v := func() *blockVisitor { return &blockVisitor{checksums: info.Checksums, kind: kindOf(n, e, b.GetKind())} }
	p.Parts = func(ctx context.Context) (*Parts, error) {
		count, err := v().count(ctx, st, n, b)
		if err != nil {
			list, err := damaged(ctx, err)
			return some("blocks", list), err
		}
		return &Parts{Kind: "blocks", Len: count, Read: func(ctx context.Context, from, to int) (list []Part, err error) {
			err = v().visit(ctx, st, n, b, from, to, func(bi Block, _ []byte, _ encoding.Block, tree *encoding.Tree) error {
				list = append(list, blockPart(bi, tree))
				return nil
			})
			if err != nil {
				last, stop := damaged(ctx, err)
				return append(list, last...), stop
			}
			return list, nil
		}}, nil
	}
	return p, nil
}

// damaged is an error about a part as a part, unless ctx ended.
func damaged(ctx context.Context, err error) ([]Part, error) {
	if ctx.Err() != nil || errors.Is(err, context.Canceled) {
		return nil, err
	}
	return []Part{{Name: "!", Value: err}}, nil
}

func blockPart(b Block, tree *encoding.Tree) Part {
	p := Part{Name: fmt.Sprintf("block %d", b.Index), Value: &b}
	if tree != nil {
		p.Parts = func(context.Context) (*Parts, error) { return some("trees", []Part{treePart(tree)}), nil }
	}
	return p
}

// treePart is an encoding tree, or a part of one.
func treePart(t *encoding.Tree) Part {
	name := t.Label()
	if t.Name != "" {
		name = t.Name + ": " + name
	}
	p := Part{Name: name, Value: &Tree{Type: t.Type, Values: t.Len, Bytes: t.Size, Offset: t.Offset, Err: t.Err}}
	if len(t.Fields)+len(t.Children) > 0 {
		p.Parts = func(context.Context) (*Parts, error) {
			var list []Part
			for _, f := range t.Fields {
				list = append(list, Part{Name: f.Name, Value: f.Text})
			}
			for i := range t.Children {
				list = append(list, treePart(&t.Children[i]))
			}
			return some("trees", list), nil
		}
	}
	return p
}
