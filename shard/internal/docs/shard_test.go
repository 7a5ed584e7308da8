package docs

import (
	"cmp"
	"context"
	"encoding/binary"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/reflect/protoreflect"

	shardpb "github.com/amudai/amudai-go/gen/amudai/shard"
	"github.com/amudai/amudai-go/internal/base/flatread"
	"github.com/amudai/amudai-go/internal/format/container"
	"github.com/amudai/amudai-go/shard"
	"github.com/amudai/amudai-go/shard/internal/shardfile"
	"github.com/amudai/amudai-go/storage"
	"github.com/amudai/amudai-go/table/provider"
)

// lookupOf returns the lookup of the top-level fields of a schema message.
func lookupOf(t *testing.T, buf []byte) (buckets, entries []uint32) {
	root, err := flatread.Root(buf)
	require.NoError(t, err)
	lookup, ok := root.Table(2)
	require.True(t, ok)
	for slot, list := range []*[]uint32{&buckets, &entries} {
		v := lookup.Vector(slot, 4)
		for i := range v.Len() {
			*list = append(*list, v.Uint32(i))
		}
	}
	return buckets, entries
}

// section is a part of an artifact.
type section struct {
	start, end int
	name       string
	list       func(d *dump) // nil: as bytes
}

// shardExample lists a whole shard: one column of three numbers.
func shardExample(t *testing.T, _ []string, _ string) string {
	ctx := context.Background()
	store := storage.NewMemory()
	const location = "mem:///a.amudai.shard"
	s := arrow.NewSchema([]arrow.Field{{Name: "n", Type: arrow.PrimitiveTypes.Int32, Nullable: true}}, nil)
	w, err := shard.Create(ctx, location, s, shard.WriterOptions{Store: store, CreationTime: time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)})
	require.NoError(t, err)
	b := array.NewInt32Builder(memory.DefaultAllocator)
	b.AppendValues([]int32{10, 20, 30}, nil)
	require.NoError(t, w.Write(ctx, array.NewRecordBatch(s, []arrow.Array{b.NewArray()}, 3)))
	require.NoError(t, w.Close(ctx))
	report, err := shard.Verify(ctx, location, shard.OpenOptions{Store: store}, provider.VerifyOptions{})
	require.NoError(t, err)
	require.True(t, report.OK())

	f, err := shardfile.Open(ctx, location, shardfile.OpenOptions{Store: store})
	require.NoError(t, err)
	defer f.Close()
	data, _, err := f.Root().ReadSuffix(ctx, math.MaxInt32)
	require.NoError(t, err)
	d := &dump{data: data}
	for _, p := range sections(ctx, t, f, data) {
		if p.start > d.at {
			gap(d, p.start)
		}
		require.Equal(t, p.start, d.at)
		d.title("%s", strings.ToUpper(p.name))
		if p.list == nil {
			d.field(p.end-p.start, "")
		} else {
			p.list(d)
		}
	}
	require.Equal(t, len(data), d.at)
	return d.String()
}

// sections returns the parts of the root that references point to.
func sections(ctx context.Context, t *testing.T, f *shardfile.File, data []byte) []section {
	out := []section{
		{0, 8, "header", nil},
		{int(f.DirectoryRange().End) - 4, int(f.DirectoryRange().End), "length of the directory", nil},
		{len(data) - 8, len(data), "footer", nil},
	}
	require.NoError(t, f.Messages(ctx, func(m shardfile.MessageRef, err error) error {
		require.NoError(t, err)
		var md protoreflect.MessageDescriptor
		if m.Type != nil {
			md = m.Type.Descriptor()
		}
		out = append(out, section{int(m.Range.Start), int(m.Range.End), m.String(), func(d *dump) { listFrame(d, md) }})
		return nil
	}))
	sd, err := f.Stripe(0).Descriptor(ctx, 0)
	require.NoError(t, err)
	for _, b := range sd.Encodings[0].GetNative().Buffers {
		r := b.Buffer.Range
		p := section{int(r.Start), int(r.End), "stripe 0/field 0/" + b.Kind.String(), nil}
		if b.BlockMap != nil {
			p.end = int(b.BlockMap.Range.Start)
			out = append(out, section{p.end, int(r.End), p.name + "/block map", nil})
		}
		out = append(out, p)
	}
	slices.SortFunc(out, func(a, b section) int { return cmp.Compare(a.start, b.start) })
	return out
}

// gap lists bytes without a reference: zeros, the first copy of the schema, the recovery record.
func gap(d *dump, end int) {
	for d.at < end {
		if d.data[d.at] == 0 || end-d.at < container.FrameExtra {
			d.field(end-d.at, "zeros")
			return
		}
		payload, rest, err := container.CutFrame(d.data[d.at:end])
		if err != nil {
			d.field(end-d.at, "?")
			return
		}
		if strings.HasPrefix(string(payload), "\x8aamudai-recover\n") {
			d.title("RECOVERY RECORD OF STRIPE 0")
			listRecovery(d, payload)
		} else {
			d.title("SCHEMA, FIRST COPY")
			listFrame(d, nil)
		}
		if zeros := end - d.at - len(rest); zeros != 0 {
			panic("frame not listed whole")
		}
	}
}

func listRecovery(d *dump, payload []byte) {
	le := binary.LittleEndian
	d.field(4, "length %d", len(payload))
	d.field(16, "magic")
	d.field(2, "version")
	d.field(2, "zero")
	d.field(4, "stripe %d", le.Uint32(payload[20:]))
	d.field(8, "position of this frame %d", le.Uint64(payload[24:]))
	d.field(8, "schema frame from %d", le.Uint64(payload[32:]))
	d.field(8, "up to %d", le.Uint64(payload[40:]))
	n, m := int(le.Uint32(payload[48:])), int(le.Uint32(payload[52:]))
	d.field(4, "bytes of the StripeDirectory %d", n)
	d.field(4, "bytes of the ShardProperties %d", m)
	listMessage(d, d.data[d.at:d.at+n], (*shardpb.StripeDirectory)(nil).ProtoReflect().Descriptor(), "")
	listMessage(d, d.data[d.at:d.at+m], (*shardpb.ShardProperties)(nil).ProtoReflect().Descriptor(), "")
	d.field(4, "checksum")
}

// listFrame lists a frame with a message of some type, or with bytes.
func listFrame(d *dump, md protoreflect.MessageDescriptor) {
	n := int(binary.LittleEndian.Uint32(d.data[d.at:]))
	d.field(4, "length %d", n)
	if md != nil {
		listMessage(d, d.data[d.at:d.at+n], md, "")
	} else {
		for end := d.at + n; d.at < end; { // without shortening
			d.field(min(maxShown, end-d.at), "")
		}
	}
	d.field(4, "checksum")
}

// listMessage lists the fields of a protobuf message.
func listMessage(d *dump, b []byte, md protoreflect.MessageDescriptor, indent string) {
	for len(b) > 0 {
		num, typ, n := protowire.ConsumeTag(b)
		size := protowire.ConsumeFieldValue(num, typ, b[n:])
		fd := md.Fields().ByNumber(num)
		value := b[n : n+size]
		if fd.Message() != nil {
			inner, _ := protowire.ConsumeBytes(value)
			d.field(n+size-len(inner), "%s%s", indent, fd.Name())
			listMessage(d, inner, fd.Message(), indent+"  ")
		} else {
			d.field(n+size, "%s%s %s", indent, fd.Name(), valueText(fd, typ, value))
		}
		b = b[n+size:]
	}
}

func valueText(fd protoreflect.FieldDescriptor, typ protowire.Type, value []byte) string {
	switch typ {
	case protowire.Fixed64Type:
		v, _ := protowire.ConsumeFixed64(value)
		return fmt.Sprint(v)
	case protowire.VarintType:
		v, _ := protowire.ConsumeVarint(value)
		switch {
		case fd.Enum() != nil:
			return string(fd.Enum().Values().ByNumber(protoreflect.EnumNumber(v)).Name())
		case fd.Kind() == protoreflect.BoolKind:
			return fmt.Sprint(v != 0)
		}
		return fmt.Sprint(v)
	case protowire.Fixed32Type:
		v, _ := protowire.ConsumeFixed32(value)
		return fmt.Sprint(v)
	}
	b, _ := protowire.ConsumeBytes(value)
	if fd.Kind() == protoreflect.StringKind {
		return fmt.Sprintf("%q", b)
	}
	var list []string
	for ; fd.IsList() && len(b) >= 8; b = b[8:] {
		list = append(list, fmt.Sprint(binary.LittleEndian.Uint64(b)))
	}
	return strings.Join(list, " ")
}
