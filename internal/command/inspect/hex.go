package inspect

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"google.golang.org/protobuf/encoding/prototext"
	"google.golang.org/protobuf/proto"

	"github.com/amudai/amudai-go/encoding/block"
	"github.com/amudai/amudai-go/encoding/describe"
	shardpb "github.com/amudai/amudai-go/gen/amudai/shard"
	"github.com/amudai/amudai-go/internal/command/terminal"
	"github.com/amudai/amudai-go/internal/format/container"
	"github.com/amudai/amudai-go/internal/format/schema"
	"github.com/amudai/amudai-go/internal/format/shardfile"
	"github.com/amudai/amudai-go/storage"
	"github.com/amudai/amudai-go/stripe"
)

// region is a range of bytes of an artifact with a meaning.
type region struct {
	artifact storage.Reader
	start    int64
	end      int64
	title    string
	dump     func(ctx context.Context) error // prints the content; nil: plain hexadecimal
}

// hex dumps the bytes of the shard, in the order of each artifact. --column and --stripe limit the dump to their
// buffers.
func (in *inspector) hex(ctx context.Context) error {
	var regions []region
	partial := len(in.flags.Columns) > 0 || len(in.flags.Stripes) > 0
	if !partial {
		in.marks(&regions)
		if err := in.messages(ctx, &regions); err != nil {
			return err
		}
	}
	for i := range in.file.NumStripes() {
		if len(in.flags.Stripes) > 0 && !slices.Contains(in.flags.Stripes, i) {
			continue
		}
		if err := in.bufferRegions(ctx, in.file.Stripe(i), &regions); err != nil {
			return err
		}
	}
	slices.SortStableFunc(regions, func(a, b region) int {
		if c := cmp.Compare(a.artifact.Name(), b.artifact.Name()); c != 0 {
			return c
		}
		return cmp.Compare(a.start, b.start)
	})
	name, at := "", int64(0)
	for _, r := range regions {
		if r.artifact.Name() != name {
			name, at = r.artifact.Name(), 0
			in.out.Printf("%s\n", in.out.Paint(terminal.Bold, terminal.Printable(name)))
		}
		if !partial && r.start > at {
			in.out.Printf("\n%08x  %s\n", at, in.out.Paint(terminal.Dim, terminal.Plural(r.start-at, "byte")+" without a reference: padding, or a recovery record"))
		}
		at = max(at, r.end)
		in.out.Printf("\n%08x  %s, %s\n", r.start, in.out.Paint(terminal.Cyan, terminal.Printable(r.title)), terminal.Plural(r.end-r.start, "byte"))
		if err := in.region(ctx, r); err != nil {
			return err
		}
	}
	return nil
}

// region prints the bytes of a region, or the error if they cannot be read.
func (in *inspector) region(ctx context.Context, r region) error {
	err := error(nil)
	if r.dump != nil {
		err = r.dump(ctx)
	} else {
		err = in.plainHex(ctx, r.artifact, r.start, r.end, "")
	}
	if err != nil && ctx.Err() == nil {
		err = in.out.Printf("          %s\n", in.out.Paint(terminal.Red, "! "+terminal.OneLine(err.Error())))
	}
	return err
}

// marks returns the header and footer of the root.
func (in *inspector) marks(regions *[]region) {
	root, size := in.file.Root(), in.file.Size()
	*regions = append(*regions,
		region{artifact: root, start: 0, end: container.MarkSize, title: "header"},
		region{artifact: root, start: size - container.TailSize, end: size, title: "length of the directory, footer"})
}

// messages returns the framed messages of the metadata.
func (in *inspector) messages(ctx context.Context, regions *[]region) error {
	seen := map[string]bool{}
	return in.file.Messages(ctx, func(m shardfile.MessageRef, err error) error {
		if err != nil {
			in.out.Printf("%s\n", in.out.Paint(terminal.Red, "! "+terminal.OneLine(err.Error())))
			return nil
		}
		key := fmt.Sprintf("%s:%d", m.Artifact.Name(), m.Range.Start)
		if seen[key] {
			return nil
		}
		seen[key] = true
		r := region{artifact: m.Artifact, start: m.Range.Start, end: m.Range.End, title: m.String()}
		r.dump = func(ctx context.Context) error { return in.message(ctx, m) }
		*regions = append(*regions, r)
		return nil
	})
}

// message prints the bytes of a message and, if its type is known, its text form.
func (in *inspector) message(ctx context.Context, m shardfile.MessageRef) error {
	raw := make([]byte, m.Range.End-m.Range.Start)
	if err := m.Artifact.ReadAt(ctx, raw, m.Range.Start); err != nil {
		return err
	}
	in.hexLines(raw, m.Range.Start, "")
	payload, err := container.ParseFrame(raw)
	if err != nil {
		return err
	}
	if m.Type == nil {
		return nil
	}
	msg := m.Type.New().Interface()
	if err := proto.Unmarshal(payload, msg); err != nil {
		return err
	}
	// The text form of the protobuf library varies its spaces on purpose.
	text := prototext.MarshalOptions{Multiline: true, Indent: "  "}.Format(msg)
	for _, line := range strings.Split(strings.TrimSpace(text), "\n") {
		if line != "" {
			in.out.Printf("          %s\n", in.out.Paint(terminal.Dim, clipLine(strings.ReplaceAll(line, ":  ", ": "))))
		}
	}
	return nil
}

// clipLine shortens the text of long byte fields.
func clipLine(s string) string {
	const most = 120
	if len(s) > most {
		return s[:most] + "…"
	}
	return s
}

// bufferRegions returns the buffers of a stripe.
func (in *inspector) bufferRegions(ctx context.Context, st *shardfile.Stripe, regions *[]region) error {
	return walkSchema(in.schema, func(n schema.Node, path string, _ int) error {
		if !in.wanted(path) {
			return nil
		}
		d, err := st.Descriptor(ctx, n.ID())
		if err != nil || d == nil {
			return err
		}
		for _, e := range d.GetEncodings() {
			for _, b := range e.GetNative().GetBuffers() {
				r, err := st.Artifact(ctx, n.ID(), b.GetBuffer())
				if err != nil {
					return err
				}
				rg := b.GetBuffer().GetRange()
				reg := region{artifact: r, start: int64(rg.GetStart()), end: int64(rg.GetEnd()), title: fmt.Sprintf("stripe %d/column %s/%s", st.Index(), path, b.GetKind())}
				if stripe.HasBlocks(b) {
					reg.dump = func(ctx context.Context) error { return in.blocksHex(ctx, st, n, e.GetNative(), b) }
				}
				*regions = append(*regions, reg)
			}
		}
		return nil
	})
}

// blocksHex dumps the blocks of a buffer as their trees, then the block map.
func (in *inspector) blocksHex(ctx context.Context, st *shardfile.Stripe, n schema.Node, e *shardpb.NativeDataEncoding, b *shardpb.EncodedBuffer) error {
	v := blockVisitor{checksums: b.GetBlockChecksums(), kind: kindOf(n, e, b.GetKind())}
	err := v.visit(ctx, st, n, b, 0, -1, func(bi blockInfo, raw []byte, blk block.Block, tree *describe.Node) error {
		in.out.Printf("%08x  %s %s\n", bi.Offset, in.out.Paint(terminal.Bold, fmt.Sprintf("block %d:", bi.Index)),
			fmt.Sprintf("%s from %s, %s", terminal.Plural(bi.Values, "value"), terminal.Count(bi.First), terminal.Plural(bi.Bytes, "byte")))
		if tree == nil {
			in.out.Printf("          %s\n", in.out.Paint(terminal.Red, "! "+bi.Error))
			in.hexLines(raw, bi.Offset, "  ")
			return nil
		}
		return in.blockHex(raw, bi, blk, tree)
	})
	if err != nil {
		return err
	}
	m := b.GetBlockMap().GetRange()
	if m == nil {
		return nil
	}
	r, err := st.Artifact(ctx, n.ID(), b.GetBuffer())
	if err != nil {
		return err
	}
	in.out.Printf("%08x  %s\n", m.GetStart(), in.out.Paint(terminal.Bold, "block map"))
	return in.plainHex(ctx, r, int64(m.GetStart()), int64(m.GetEnd()), "  ")
}

// blockHex prints header and presence of a block, then its tree with offsets from the start of the values.
func (in *inspector) blockHex(raw []byte, bi blockInfo, blk block.Block, tree *describe.Node) error {
	in.hexLines(raw[:block.HeaderLen], bi.Offset, "  ")
	if len(blk.Presence) > 0 {
		in.out.Printf("%08x    presence\n", bi.Offset+block.HeaderLen)
		in.hexLines(blk.Presence, bi.Offset+block.HeaderLen, "  ")
	}
	in.out.Printf("%08x    values\n", bi.Offset+int64(blk.ValuesOffset))
	var b strings.Builder
	if err := describe.Dump(&b, blk.Values, tree); err != nil {
		return err
	}
	for _, line := range strings.Split(strings.TrimSuffix(b.String(), "\n"), "\n") {
		in.out.Printf("      %s\n", strings.TrimRight(line, " "))
	}
	return nil
}

// maxHex is the number of bytes that are dumped of a region without a known structure.
const maxHex = 4096

// plainHex dumps bytes of an artifact.
func (in *inspector) plainHex(ctx context.Context, r storage.Reader, start, end int64, indent string) error {
	raw := make([]byte, min(end-start, maxHex))
	if err := r.ReadAt(ctx, raw, start); err != nil {
		return err
	}
	in.hexLines(raw, start, indent)
	if rest := end - start - int64(len(raw)); rest > 0 {
		in.out.Printf("          %s… %s more\n", indent, terminal.Plural(rest, "byte"))
	}
	return nil
}

func (in *inspector) hexLines(b []byte, at int64, indent string) { hexLines(in.out, b, at, indent) }

// hexLines prints 16 bytes per line, in hexadecimal and as characters.
func hexLines(out terminal.Screen, b []byte, at int64, indent string) (err error) {
	for i := 0; i < len(b); i += 16 {
		line := b[i:min(i+16, len(b))]
		chars := make([]byte, len(line))
		for k, c := range line {
			if chars[k] = c; c < 0x20 || c > 0x7e {
				chars[k] = '.'
			}
		}
		err = out.Printf("%08x  %s%-47s  %s\n", at+int64(i), indent, fmt.Sprintf("% x", line), string(chars))
	}
	return err
}
