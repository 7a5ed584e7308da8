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
	"github.com/amudai/amudai-go/internal/format/schema"
	"github.com/amudai/amudai-go/internal/text"
	"github.com/amudai/amudai-go/shard/internal/shardfile"
	"github.com/amudai/amudai-go/shard/internal/stripe"
	"github.com/amudai/amudai-go/storage"
)

// Line is a line of a dump of bytes.
type Line struct {
	Kind   Kind
	Offset int64  // in the artifact, or -1 for a line that continues another
	Indent int    // of the text
	Title  string // what the bytes are
	Text   string // of a message, an error, or a line of an encoding tree
	Data   []byte // up to 16 bytes, until the next line
	Bytes  int64  // in a region, a gap, a block, or behind the bytes that a dump of a region shows

	// Of a block: its values, and the number of the first.
	Values int
	First  uint64
}

// Kind is the kind of a line.
type Kind int

// The kinds of lines.
const (
	KindBytes    Kind = iota // bytes, or their title
	KindArtifact             // a file begins; the title is its name
	KindRegion               // a part of the file with a name begins
	KindGap                  // bytes that nothing refers to: padding, or a recovery record
	KindBlock                // a block or the block map begins in a region
	KindMore                 // bytes of the region that are left out
	KindMessage              // a line of the text form of a message
	KindTree                 // a line of the text form of an encoding tree
	KindError                // the text says why bytes cannot be read
)

// region is a range of bytes of an artifact with a meaning.
type region struct {
	artifact storage.Reader
	start    int64
	end      int64
	title    string
	dump     func(ctx context.Context) error // emits the content; nil: plain hexadecimal
}

// Dump calls emit for each line of a dump of the bytes of a shard, in the order of each artifact. With columns or stripes, it
// consists of their buffers. An error of emit ends it.
func Dump(ctx context.Context, f *shardfile.File, o Options, emit func(Line) error) error {
	in, err := newInspector(ctx, f, o)
	if err != nil {
		return err
	}
	d := dumper{inspector: in, emit: emit}
	if err := d.dump(ctx); err != nil {
		return err
	}
	return d.err
}

// dumper emits lines until the first error.
type dumper struct {
	*inspector
	emit func(Line) error
	err  error // of emit
}

func (in *dumper) line(l Line) {
	if in.err == nil {
		in.err = in.emit(l)
	}
}

func (in *dumper) fail(err error) {
	in.line(Line{Kind: KindError, Offset: -1, Text: text.OneLine(err.Error())})
}

func (in *dumper) dump(ctx context.Context) error {
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
			in.line(Line{Kind: KindArtifact, Offset: -1, Title: name})
		}
		if !partial && r.start > at {
			in.line(Line{Kind: KindGap, Offset: at, Bytes: r.start - at})
		}
		at = max(at, r.end)
		in.line(Line{Kind: KindRegion, Offset: r.start, Title: r.title, Bytes: r.end - r.start})
		if in.region(ctx, r); in.err != nil || ctx.Err() != nil {
			return ctx.Err()
		}
	}
	return nil
}

// region emits the bytes of a region, or the error if they cannot be read.
func (in *dumper) region(ctx context.Context, r region) {
	err := error(nil)
	if r.dump != nil {
		err = r.dump(ctx)
	} else {
		err = in.plainHex(ctx, r.artifact, r.start, r.end, 0)
	}
	if err != nil && ctx.Err() == nil {
		in.fail(err)
	}
}

// marks returns the header and footer of the root.
func (in *dumper) marks(regions *[]region) {
	root, size := in.file.Root(), in.file.Size()
	*regions = append(*regions,
		region{artifact: root, start: 0, end: container.MarkSize, title: "header"},
		region{artifact: root, start: size - container.TailSize, end: size, title: "length of the directory, footer"})
}

// messages returns the framed messages of the metadata.
func (in *dumper) messages(ctx context.Context, regions *[]region) error {
	seen := map[string]bool{}
	return in.file.Messages(ctx, func(m shardfile.MessageRef, err error) error {
		if err != nil {
			in.fail(err)
			return in.err
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

// message emits the bytes of a message and, if its type is known, its text form.
func (in *dumper) message(ctx context.Context, m shardfile.MessageRef) error {
	raw := make([]byte, m.Range.End-m.Range.Start)
	if err := m.Artifact.ReadAt(ctx, raw, m.Range.Start); err != nil {
		return err
	}
	in.hexLines(raw, m.Range.Start, 0)
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
	form := prototext.MarshalOptions{Multiline: true, Indent: "  "}.Format(msg)
	for _, line := range strings.Split(strings.TrimSpace(form), "\n") {
		if line != "" {
			in.line(Line{Kind: KindMessage, Offset: -1, Text: clipLine(strings.ReplaceAll(line, ":  ", ": "))})
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
func (in *dumper) bufferRegions(ctx context.Context, st *shardfile.Stripe, regions *[]region) error {
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

// blocksHex emits the blocks of a buffer as their trees, then the block map.
func (in *dumper) blocksHex(ctx context.Context, st *shardfile.Stripe, n schema.Node, e *shardpb.NativeDataEncoding, b *shardpb.EncodedBuffer) error {
	v := blockVisitor{checksums: b.GetBlockChecksums(), kind: kindOf(n, e, b.GetKind())}
	err := v.visit(ctx, st, n, b, 0, -1, func(bi Block, raw []byte, blk encoding.Block, tree *encoding.Tree) error {
		in.line(Line{Kind: KindBlock, Offset: bi.Offset, Title: fmt.Sprintf("block %d", bi.Index), Bytes: int64(bi.Bytes), Values: bi.Values, First: bi.First})
		if tree == nil {
			in.line(Line{Kind: KindError, Offset: -1, Text: bi.Error})
			in.hexLines(raw, bi.Offset, 2)
			return in.err
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
	in.line(Line{Kind: KindBlock, Offset: int64(m.GetStart()), Title: "block map"})
	return in.plainHex(ctx, r, int64(m.GetStart()), int64(m.GetEnd()), 2)
}

// blockHex emits header and presence of a block, then its tree with offsets from the start of the values.
func (in *dumper) blockHex(raw []byte, bi Block, blk encoding.Block, tree *encoding.Tree) error {
	in.hexLines(raw[:encoding.BlockHeaderLen], bi.Offset, 2)
	if len(blk.Presence) > 0 {
		in.line(Line{Offset: bi.Offset + encoding.BlockHeaderLen, Indent: 2, Title: "presence"})
		in.hexLines(blk.Presence, bi.Offset+encoding.BlockHeaderLen, 2)
	}
	in.line(Line{Offset: bi.Offset + int64(blk.ValuesOffset), Indent: 2, Title: "values"})
	var b strings.Builder
	if err := encoding.Dump(&b, blk.Values, tree); err != nil {
		return err
	}
	for _, line := range strings.Split(strings.TrimSuffix(b.String(), "\n"), "\n") {
		in.line(Line{Kind: KindTree, Offset: -1, Text: strings.TrimRight(line, " ")})
	}
	return in.err
}

// maxHex is the number of bytes that are dumped of a region without a known structure.
const maxHex = 4096

// plainHex dumps bytes of an artifact.
func (in *dumper) plainHex(ctx context.Context, r storage.Reader, start, end int64, indent int) error {
	raw := make([]byte, min(end-start, maxHex))
	if err := r.ReadAt(ctx, raw, start); err != nil {
		return err
	}
	in.hexLines(raw, start, indent)
	if rest := end - start - int64(len(raw)); rest > 0 {
		in.line(Line{Kind: KindMore, Offset: -1, Indent: indent, Bytes: rest})
	}
	return in.err
}

// hexLines emits 16 bytes per line.
func (in *dumper) hexLines(b []byte, at int64, indent int) {
	for i := 0; i < len(b); i += 16 {
		in.line(Line{Offset: at + int64(i), Indent: indent, Data: b[i:min(i+16, len(b))]})
	}
}
