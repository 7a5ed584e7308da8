package shard_test

import (
	"context"
	"encoding/binary"
	"errors"
	"strings"
	"testing"

	"github.com/apache/arrow-go/v18/arrow/memory"
	flatbuffers "github.com/google/flatbuffers/go"
	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/encoding/protowire"

	schemafb "github.com/amudai/amudai-go/gen/fbs/schema"
	"github.com/amudai/amudai-go/internal/format/container"
	"github.com/amudai/amudai-go/internal/testing/leaktest"
	"github.com/amudai/amudai-go/shard"
	"github.com/amudai/amudai-go/table/provider"
)

// memoryBound is the limit of allocations, freed ones included, of opening, scanning and verifying any small file.
const memoryBound = 96 << 20

// refuse opens, scans and verifies a shard, and checks that no memory, goroutine or reader is left behind. It
// returns the report, the number of bytes allocated, and the error of the scan.
func refuse(t *testing.T, root []byte) (report *provider.Report, allocated uint64, err error) {
	t.Helper()
	check := leaktest.Goroutines(t)
	store, mem := OneFile(root), memory.NewCheckedAllocator(memory.DefaultAllocator)
	open := shard.OpenOptions{Store: store}
	o := shard.ScanOptions{Allocator: mem, Parallelism: 2}
	before := leaktest.Allocated()
	rows := claims(root)
	if rows > 1<<32 {
		o.Rows = []shard.RowRange{{From: 0, To: 100_000}, {From: rows - 10, To: rows}}
	}
	batches, err := Read(Location, open, o)
	Release(batches)
	report, verr := shard.Verify(context.Background(), Location, open, provider.VerifyOptions{MetadataOnly: rows > 1<<32})
	require.NoError(t, verr)
	allocated = leaktest.Allocated() - before
	require.Zero(t, mem.CurrentAlloc())
	require.Zero(t, store.OpenReaders())
	check()
	return report, allocated, err
}

// claims is the number of rows in the directory of a shard.
func claims(root []byte) int64 {
	s, err := shard.Open(context.Background(), Location, shard.OpenOptions{Store: OneFile(root)})
	if err != nil {
		return 0
	}
	defer s.Close()
	return s.NumRows()
}

func isFault(err error) bool {
	for _, kind := range []error{shard.ErrCorrupt, shard.ErrChecksum, shard.ErrUnsupported, shard.ErrLimit} {
		if errors.Is(err, kind) {
			return true
		}
	}
	return false
}

// TestForeign opens files that are not shards.
func TestForeign(t *testing.T) {
	mark := string(container.Mark[:])
	long := strings.Repeat("x", 5000)
	tail := func(n uint32) string { return string(binary.LittleEndian.AppendUint32(nil, n)) + mark }
	for name, c := range map[string]struct{ text, says string }{
		"empty":                     {"", "0 bytes are too few"},
		"one byte":                  {"a", "1 bytes are too few"},
		"a header":                  {mark, "too few"},
		"header and footer":         {mark + mark, "too few"},
		"Parquet":                   {"PAR1" + long + "PAR1", "looks like Parquet"},
		"Arrow":                     {"ARROW1\x00\x00" + long + "ARROW1", "looks like an Arrow IPC file"},
		"text":                      {"id,name\n" + long, "not an Amudai artifact"},
		"zeros":                     {string(make([]byte, 5000)), "not an Amudai artifact"},
		"another footer":            {mark + long + "amudXXXX", "version"},
		"a later version":           {mark + long + "amud\x00\x00\x00\x07", "version 7.0.0"},
		"a directory of 4 GiB":      {mark + long + tail(0xffffffff), "directory of 4294967295 bytes"},
		"a directory of 15 MiB":     {mark + long + tail(15<<20), "does not fit"},
		"a directory that is text":  {mark + long + tail(100), "message says 2021161080 bytes"},
		"only a directory's length": {mark + strings.Repeat("\x00", 12) + tail(0), "schema_ref is missing"},
	} {
		t.Run(name, func(t *testing.T) {
			if name == "only a directory's length" {
				// An empty frame with its checksum.
				c.text = mark + string(container.AppendTail(nil, nil))
			}
			report, used, err := refuse(t, []byte(c.text))
			require.True(t, isFault(err), "%v", err)
			require.ErrorContains(t, err, c.says)
			require.NotContains(t, err.Error(), "\n")
			require.Len(t, report.Problems, 1)
			require.Less(t, used, uint64(1<<20))
		})
	}
}

// TestDeepNesting nests types and property values 10,000 deep, and makes types
// that share their children, so that a small schema has countless nodes.
func TestDeepNesting(t *testing.T) {
	p := liesShard(t)
	p.Schema = deepSchema(10_000, 1)
	_, used, err := refuse(t, p.Join())
	require.ErrorIs(t, err, shard.ErrLimit)
	require.Less(t, used, uint64(memoryBound))

	p = liesShard(t)
	p.Schema = deepSchema(14, 100) // 100^14 nodes
	_, used, err = refuse(t, p.Join())
	require.True(t, isFault(err), "%v", err)
	require.Less(t, used, uint64(memoryBound))

	p = liesShard(t)
	p.Properties = deepProperty(10_000)
	root := p.Join()
	_, err = shard.Open(t.Context(), Location, shard.OpenOptions{Store: OneFile(root)})
	require.True(t, isFault(err), "%v", err)
	report, used, _ := refuse(t, root)
	require.NotEmpty(t, report.Problems)
	require.Less(t, used, uint64(memoryBound))
}

// deepSchema is structs in structs, each with the same child several times.
func deepSchema(depth, times int) []byte {
	b := flatbuffers.NewBuilder(1 << 20)
	name := b.CreateString("x")
	b.StartVector(4, 0, 4)
	none := b.EndVector(0)
	var child flatbuffers.UOffsetT
	for i := range depth {
		children := none
		if i > 0 {
			b.StartVector(4, times, 4)
			for range times {
				b.PrependUOffsetT(child)
			}
			children = b.EndVector(times)
		}
		schemafb.DataTypeStart(b)
		schemafb.DataTypeAddBasicType(b, schemafb.BasicTypeStruct)
		schemafb.DataTypeAddFieldName(b, name)
		schemafb.DataTypeAddChildren(b, children)
		schemafb.DataTypeAddSchemaId(b, uint32(depth-1-i))
		child = schemafb.DataTypeEnd(b)
	}
	schemafb.FieldStart(b)
	schemafb.FieldAddDataType(b, child)
	field := schemafb.FieldEnd(b)
	b.StartVector(4, 1, 4)
	b.PrependUOffsetT(field)
	fields := b.EndVector(1)
	b.StartVector(4, 0, 4)
	empty := b.EndVector(0)
	schemafb.HashLookupStart(b)
	schemafb.HashLookupAddBuckets(b, empty)
	schemafb.HashLookupAddEntries(b, empty)
	lookup := schemafb.HashLookupEnd(b)
	schemafb.SchemaStart(b)
	schemafb.SchemaAddFields(b, fields)
	schemafb.SchemaAddSchemaIdCount(b, uint32(min(depth*times, 1<<20)))
	schemafb.SchemaAddFieldLookup(b, lookup)
	b.Finish(schemafb.SchemaEnd(b))
	return b.FinishedBytes()
}

// deepProperty returns a custom property whose value is a list in a list, and so on.
func deepProperty(depth int) []byte {
	wrap := func(num protowire.Number, b []byte) []byte {
		return protowire.AppendBytes(protowire.AppendTag(nil, num, protowire.BytesType), b)
	}
	var value []byte
	for range depth {
		value = wrap(20, wrap(1, value)) // AnyValue.list_value, ListValue.elements
	}
	return wrap(4, append(wrap(1, []byte("deep")), wrap(2, value)...)) // ShardProperties.custom_properties
}

// TestEndlessWork verifies 2^62 rows that take no bytes. The work is limited by the bytes of the file, so that it
// ends without being cancelled.
func TestEndlessWork(t *testing.T) {
	p := liesShard(t)
	for _, l := range lies {
		if l.name == "2^62 rows of a constant" {
			l.do(p)
		}
	}
	open := shard.OpenOptions{Store: OneFile(p.Join())}
	check := leaktest.Goroutines(t)
	_, err := shard.Verify(t.Context(), Location, open, provider.VerifyOptions{})
	require.NoError(t, err)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err = shard.Verify(ctx, Location, open, provider.VerifyOptions{})
	require.ErrorIs(t, err, context.Canceled)
	check()
}

// single adds a change, and omits the block map of the single block that it makes.
func single(do func(p *Parts)) func(p *Parts) {
	return func(p *Parts) {
		do(p)
		b := buffer(p, 0, data)
		b.Single, b.Desc.BlockCount = true, ptr(1)
	}
}
