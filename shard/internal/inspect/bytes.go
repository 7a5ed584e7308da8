package inspect

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"google.golang.org/protobuf/encoding/prototext"
	"google.golang.org/protobuf/proto"

	"github.com/amudai/amudai-go/encoding"
	shardpb "github.com/amudai/amudai-go/gen/amudai/shard"
	"github.com/amudai/amudai-go/internal/format/container"
	"github.com/amudai/amudai-go/internal/text"
	"github.com/amudai/amudai-go/shard/internal/shardfile"
	"github.com/amudai/amudai-go/shard/internal/stripe"
	"github.com/amudai/amudai-go/storage"
	"github.com/amudai/amudai-go/table/provider"
)

// bytes lists the bytes of all files of the shard. With columns or stripes in the options, these are those of their buffers.
func (in *inspector) bytes(ctx context.Context) error {
	in.Lists = nil
	partial := len(in.o.Columns) > 0 || len(in.o.Groups) > 0
	if !partial {
		root, size := in.file.Root(), in.file.Size()
		in.region(root, 0, container.MarkSize, "header", nil)
		in.region(root, size-container.TailSize, size, "length of the directory, footer", nil)
		if err := in.messages(ctx); err != nil {
			return err
		}
	}
	for _, st := range in.stripes() {
		if err := in.stripeBytes(ctx, st); err != nil {
			return err
		}
	}
	slices.SortStableFunc(in.Bytes, func(a, b provider.Region) int {
		return cmp.Or(cmp.Compare(a.File, b.File), cmp.Compare(a.Offset, b.Offset))
	})
	if !partial {
		in.Bytes = withGaps(in.Bytes)
	}
	return ctx.Err()
}

// withGaps adds what no region has.
func withGaps(regions []provider.Region) (all []provider.Region) {
	file, at := "", int64(0)
	for _, r := range regions {
		if r.File != file {
			file, at = r.File, 0
		}
		if r.Offset > at {
			all = append(all, provider.Region{File: file, Offset: at, Size: r.Offset - at, Name: "without a reference: padding, or a recovery record"})
		}
		all, at = append(all, r), max(at, r.Offset+r.Size)
	}
	return all
}

// region adds bytes of an artifact, which dump reads; nil: without a known structure.
func (in *inspector) region(r storage.Reader, start, end int64, name string, dump func(ctx context.Context) (provider.Dump, error)) {
	if dump == nil {
		dump = func(ctx context.Context) (provider.Dump, error) { return plain(ctx, r, start, end) }
	}
	in.Bytes = append(in.Bytes, provider.Region{File: r.Name(), Offset: start, Size: end - start, Name: name, Dump: dump})
}

// maxHex is the number of bytes that are dumped of a region without a known structure.
const maxHex = 4096

func plain(ctx context.Context, r storage.Reader, start, end int64) (d provider.Dump, err error) {
	d.Data = make([]byte, min(end-start, maxHex))
	if rest := end - start - int64(len(d.Data)); rest > 0 {
		d.Text = []string{fmt.Sprintf("… %d %s more", rest, text.Plural(rest, "byte"))}
	}
	return d, r.ReadAt(ctx, d.Data, start)
}

// messages adds the framed messages of the metadata.
func (in *inspector) messages(ctx context.Context) error {
	seen := map[string]bool{}
	return in.file.Messages(ctx, func(m shardfile.MessageRef, err error) error {
		if err != nil {
			in.AddFact("not readable", err.Error())
			return nil
		}
		key := fmt.Sprintf("%s:%d", m.Artifact.Name(), m.Range.Start)
		if !seen[key] {
			seen[key] = true
			in.region(m.Artifact, m.Range.Start, m.Range.End, m.String(), func(ctx context.Context) (provider.Dump, error) { return message(ctx, m) })
		}
		return nil
	})
}

// message is a message with its text form, if its type is known.
func message(ctx context.Context, m shardfile.MessageRef) (d provider.Dump, err error) {
	d.Data = make([]byte, m.Range.End-m.Range.Start)
	if err := m.Artifact.ReadAt(ctx, d.Data, m.Range.Start); err != nil {
		return provider.Dump{}, err
	}
	payload, err := container.ParseFrame(d.Data)
	if err != nil || m.Type == nil {
		return d, err
	}
	msg := m.Type.New().Interface()
	if err := proto.Unmarshal(payload, msg); err != nil {
		return d, err
	}
	// The text form of the protobuf library varies its spaces on purpose.
	form := prototext.MarshalOptions{Multiline: true, Indent: "  "}.Format(msg)
	for _, line := range strings.Split(strings.TrimSpace(form), "\n") {
		if line != "" {
			d.Text = append(d.Text, strings.ReplaceAll(line, ":  ", ": "))
		}
	}
	return d, nil
}

// stripeBytes adds the buffers of a stripe, and the blocks in them.
func (in *inspector) stripeBytes(ctx context.Context, st *shardfile.Stripe) error {
	for _, n := range in.nodes {
		d, err := st.Descriptor(ctx, n.ID())
		if err != nil {
			return err
		}
		c := column{node: n.Node, stripe: st, stored: d}
		for e, b := range stripe.Buffers(c.stored) {
			if stripe.IsMember(b) {
				continue // its bytes are those of the group
			}
			r, err := st.Artifact(ctx, n.ID(), b.GetBuffer())
			if err != nil {
				return err
			}
			rg, name := b.GetBuffer().GetRange(), fmt.Sprintf("stripe %d/column %s/%s", st.Index(), n.path, b.GetKind())
			start, end := int64(rg.GetStart()), int64(rg.GetEnd())
			if stripe.IsGroup(e, b) {
				in.region(r, start, end, fmt.Sprintf("stripe %d/column %s/packed group", st.Index(), n.path), nil)
			} else if !stripe.HasBlocks(b) {
				in.region(r, start, end, name, nil)
			} else if err := in.blocks(ctx, &c, e, b, r, name); err != nil {
				in.region(r, start, end, name, func(ctx context.Context) (provider.Dump, error) {
					d, rerr := plain(ctx, r, start, end)
					return d, cmp.Or(rerr, err)
				})
			}
		}
		if ctx.Err() != nil {
			return ctx.Err()
		}
	}
	return nil
}

// blocks adds the blocks of a buffer, and their map.
func (in *inspector) blocks(ctx context.Context, c *column, e *shardpb.NativeDataEncoding, b *shardpb.EncodedBuffer, r storage.Reader, name string) error {
	v, err := blocksOf(ctx, c, e, b)
	if err != nil {
		return err
	}
	for i := range v.Map.Len() {
		first, count, at, size := v.Map.Block(i)
		start := int64(b.GetBuffer().GetRange().GetStart()) + at
		title := fmt.Sprintf("%s/block %d: %d %s from %d", name, i, count, text.Plural(count, "value"), first)
		in.region(r, start, start+int64(size), title, func(ctx context.Context) (d provider.Dump, err error) {
			own := *v
			own.buf = nil // the bytes are the caller's
			err = own.visit(ctx, i, i+1, func(bi block, raw []byte, blk encoding.Block, tree *encoding.Tree) (err error) {
				d, err = blockDump(bi, raw, blk, tree)
				return err
			})
			return d, err
		})
	}
	if m := b.GetBlockMap().GetRange(); m != nil {
		in.region(r, int64(m.GetStart()), int64(m.GetEnd()), name+"/block map", nil)
	}
	return nil
}

// blockDump is header and presence of a block, then its tree with offsets from the start of the values.
func blockDump(bi block, raw []byte, blk encoding.Block, tree *encoding.Tree) (provider.Dump, error) {
	if tree == nil {
		return provider.Dump{Data: raw, Text: []string{"! " + bi.err}}, nil
	}
	var b strings.Builder
	if err := encoding.Dump(&b, blk.Values, tree); err != nil {
		return provider.Dump{}, err
	}
	d := provider.Dump{Data: raw[:blk.ValuesOffset], Text: []string{"values"}}
	d.Parts = []provider.Part{{Size: encoding.BlockHeaderLen, Text: "sizes of presence and values"}}
	if n := len(blk.Presence); n > 0 {
		d.Parts = append(d.Parts, provider.Part{Offset: encoding.BlockHeaderLen, Size: n, Text: "presence"})
	}
	for line := range strings.Lines(b.String()) {
		d.Text = append(d.Text, strings.TrimRight(line, " \n"))
	}
	return d, nil
}
