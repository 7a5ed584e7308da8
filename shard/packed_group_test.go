package shard

import (
	"encoding/binary"
	"fmt"
	"path/filepath"
	"slices"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"

	"github.com/amudai/amudai-go/encoding"
	"github.com/amudai/amudai-go/filter"
	shardpb "github.com/amudai/amudai-go/gen/amudai/shard"
	"github.com/amudai/amudai-go/internal/arrow/arrowutil"
	"github.com/amudai/amudai-go/internal/base/fault"
	"github.com/amudai/amudai-go/internal/testing/arrowgen"
	"github.com/amudai/amudai-go/shard/internal/shardwriter"
	"github.com/amudai/amudai-go/shard/internal/stripe"
	"github.com/amudai/amudai-go/shard/internal/stripe/write"
	"github.com/amudai/amudai-go/storage"
	"github.com/amudai/amudai-go/table/provider"
)

// Packed groups: the same values, the same answers, and sound shards; none of it in edition reference.
func TestPackedGroups(t *testing.T) {
	types := arrowgen.Types()
	for _, c := range []struct {
		nulls  float64
		rows   int
		packed [][]string
	}{
		{0.3, 900, [][]string{{"*"}}}, {0, 700, [][]string{{"c1", "c2", "c3", "c4"}, {"*"}}}, {1, 601, [][]string{{"*"}}},
	} {
		g := arrowgen.New(7)
		g.Nulls = c.nulls
		data := randomTable(g, types, c.rows)
		for _, p := range []encoding.Profile{encoding.Balanced, encoding.ProfilePlain, encoding.HighCompression, encoding.MinimalSize} {
			if testing.Short() && p != encoding.Balanced {
				continue
			}
			t.Run(fmt.Sprint(c.nulls, p), func(t *testing.T) {
				store := storage.NewMemory()
				writeTable(t, "mem://x/packed", data, WriterOptions{Store: store, StripeRows: 500, Profile: p, Packed: c.packed, NullsApart: p == encoding.Balanced}, 191)
				writeTable(t, "mem://x/plain", data, WriterOptions{Store: store, StripeRows: 500, Profile: p}, 191)
				rep, err := Verify(t.Context(), "mem://x/packed", OpenOptions{Store: store}, provider.VerifyOptions{})
				require.NoError(t, err)
				require.True(t, rep.OK() && rep.Unchecked == 0, "%v %v", rep.Problems, rep.Notes)
				packed, plain := openTest(t, store, "mem://x/packed"), openTest(t, store, "mem://x/plain")
				members := membersOf(t, packed)
				if c.nulls < 1 {
					require.Greater(t, members, 2*len(types)/3, "of %d columns in 2 stripes", len(types))
				}
				require.Zero(t, membersOf(t, plain))
				for _, o := range []TakeOptions{{}, {FetchGap: 1 << 20}, {FetchBytes: 1}} {
					rows := []int64{600, 0, 3, 3, 499, 500, 77}
					want, err := plain.Take(t.Context(), rows, o)
					require.NoError(t, err)
					got, err := packed.Take(t.Context(), rows, o)
					require.NoError(t, err)
					for i, c := range want.Columns() {
						require.Negative(t, arrowutil.Difference(c, got.Column(i)), "column %d", i)
					}
				}
				for _, gap := range []int64{0, 1 << 20} {
					requireScan(t, packed, data, ScanOptions{BatchRows: 128, FetchGap: gap})
					requireRows(t, packed, data, between(400, 600), ScanOptions{Rows: []RowRange{{From: 400, To: 600}}, FetchGap: gap})
					for i := range data.columns {
						column := filter.Col(fmt.Sprintf("c%d", i))
						for _, f := range []filter.Expr{filter.IsNull(column), filter.Not(filter.IsNull(column))} {
							o := ScanOptions{Filter: f, Columns: []string{}, FetchGap: gap}
							require.Equal(t, rowsOf(t, plain, o), rowsOf(t, packed, o), "%v", f)
						}
					}
				}
			})
		}
	}
}

func openTest(t *testing.T, store storage.Store, location string) *Shard {
	s, err := Open(t.Context(), location, OpenOptions{Store: store})
	require.NoError(t, err)
	t.Cleanup(func() { s.Close() })
	return s
}

// membersOf is the number of buffers in packed groups, in all stripes.
func membersOf(t *testing.T, s *Shard) (n int) {
	for k := range s.NumStripes() {
		for id := range s.schema.IDCount() {
			d, err := s.file.Stripe(k).Descriptor(t.Context(), id)
			require.NoError(t, err)
			for _, b := range stripe.NativeEncoding(d).GetBuffers() {
				if stripe.IsMember(b) {
					n++
				}
			}
		}
	}
	return n
}

// structTable has a struct of flat and of other types.
func structTable(rows int) table {
	types := append(slices.Clone(arrowgen.Types()[:12]), arrow.BinaryTypes.String, arrow.ListOf(arrow.PrimitiveTypes.Int16), arrow.FixedWidthTypes.Boolean, arrow.StructOf(arrow.Field{Name: "x", Type: arrow.PrimitiveTypes.Int64, Nullable: true}))
	var fields []arrow.Field
	for i, dt := range types {
		fields = append(fields, arrow.Field{Name: fmt.Sprintf("f%d", i), Type: dt, Nullable: true})
	}
	g := arrowgen.New(11)
	g.Nulls = 0.2
	return randomTable(g, []arrow.DataType{arrow.StructOf(fields...), arrow.PrimitiveTypes.Int32}, rows)
}

// The children of a struct in a packed group, as the specification has it: whole, in parts, and in conditions.
func TestPackedStruct(t *testing.T) {
	data := structTable(900)
	store := storage.NewMemory()
	writeTable(t, "mem://x/packed", data, WriterOptions{Store: store, StripeRows: 500, Packed: [][]string{{"c0"}}}, 191)
	writeTable(t, "mem://x/plain", data, WriterOptions{Store: store, StripeRows: 500}, 191)
	requireVerified(t, store, "mem://x/packed")
	packed, plain := openTest(t, store, "mem://x/packed"), openTest(t, store, "mem://x/plain")
	require.GreaterOrEqual(t, membersOf(t, packed), 16)
	requireScan(t, packed, data, ScanOptions{BatchRows: 100})
	for i := range data.columns[0].(*array.Struct).NumField() {
		path := fmt.Sprintf("c0.f%d", i)
		f := filter.IsNull(filter.Col(path))
		for _, o := range []ScanOptions{{Columns: []string{path}}, {Columns: []string{path, "c1"}, Filter: f}, {Columns: []string{}, Filter: filter.Not(f)}} {
			require.Equal(t, valuesText(t, plain, o), valuesText(t, packed, o), path)
		}
	}
	for _, rows := range [][]int64{{0}, {899, 3, 3, 505}} {
		want, err := plain.Take(t.Context(), rows, TakeOptions{})
		require.NoError(t, err)
		got, err := packed.Take(t.Context(), rows, TakeOptions{})
		require.NoError(t, err)
		require.True(t, array.RecordEqual(want, got))
	}
}

func requireVerified(t *testing.T, store storage.Store, location string) {
	rep, err := Verify(t.Context(), location, OpenOptions{Store: store}, provider.VerifyOptions{})
	require.NoError(t, err)
	require.True(t, rep.OK() && rep.Unchecked == 0, "%v %v", rep.Problems, rep.Notes)
}

// valuesText is the result of a scan as text.
func valuesText(t *testing.T, s *Shard, o ScanOptions) (out string) {
	for batch, err := range s.Scan(t.Context(), o) {
		require.NoError(t, err)
		for _, c := range batch.Columns() {
			for i := range c.Len() {
				out += c.ValueStr(i) + "\n"
			}
		}
	}
	return out
}

// Copies of a shard have its groups, in other layouts, too.
func TestPackedCopies(t *testing.T) {
	data := structTable(700)
	for _, layout := range []Layout{SingleFile, TwoLevel} {
		dir := t.TempDir()
		location := filepath.Join(dir, "a.shard")
		writeTable(t, location, data, WriterOptions{Layout: layout, StripeRows: 300, Packed: [][]string{{"c0"}}}, 700)
		copied := filepath.Join(dir, "packed.shard")
		original := openTest(t, nil, location)
		require.NoError(t, Pack(t.Context(), copied, PackOptions{}, original, original))
		for _, location := range []string{location, copied} {
			requireSound(t, location)
			s := openTest(t, nil, location)
			require.Positive(t, membersOf(t, s))
			requireScan(t, s, data, ScanOptions{})
		}
	}
}

// Lies about packed groups are errors, and none of them takes much memory.
func TestPackedLies(t *testing.T) {
	const rows = 400
	data := numbered(rows, 3)
	le := binary.LittleEndian
	header := func(change func(raw []byte) []byte) func(*stripe.Finished) {
		return func(f *stripe.Finished) {
			g := &f.Nodes[0].Group[0]
			raw := make([]byte, g.Data.Size())
			_, err := g.Data.ReadAt(raw, 0)
			require.NoError(t, err)
			g.Data.Close()
			g.Data = storage.NewSpool(nil, "")
			g.Data.Write(change(raw))
		}
	}
	member := func(change func(b *shardpb.EncodedBuffer)) func(*stripe.Finished) {
		return func(f *stripe.Finished) { change(f.Nodes[0].Buffers[0].Desc) }
	}
	for name, lie := range map[string]func(*stripe.Finished){
		"more members":       header(func(b []byte) []byte { le.PutUint32(b, le.Uint32(b)+1); return b }),
		"fewer members":      header(func(b []byte) []byte { le.PutUint32(b, 1); return b }),
		"many members":       header(func(b []byte) []byte { le.PutUint32(b, 1<<31); return b }),
		"sizes that overlap": header(func(b []byte) []byte { le.PutUint32(b[4:], le.Uint32(b[8:])); return b }),
		"sizes that overflow": header(func(b []byte) []byte {
			le.PutUint32(b[4:], le.Uint32(b[4:])+1<<31)
			le.PutUint32(b[8:], le.Uint32(b[8:])+1<<31)
			return b
		}),
		"a moved border": header(func(b []byte) []byte {
			le.PutUint32(b[4:], le.Uint32(b[4:])+8)
			le.PutUint32(b[8:], le.Uint32(b[8:])-8)
			return b
		}),
		"a member too many":  member(func(b *shardpb.EncodedBuffer) { b.PackedGroupIndex = proto.Uint32(3) }),
		"a far member":       member(func(b *shardpb.EncodedBuffer) { b.PackedGroupIndex = proto.Uint32(1 << 31) }),
		"a node without one": member(func(b *shardpb.EncodedBuffer) { b.BufferId = proto.Uint32(1) }),
		"no node":            member(func(b *shardpb.EncodedBuffer) { b.BufferId = proto.Uint32(1 << 31) }),
		"no node named":      member(func(b *shardpb.EncodedBuffer) { b.BufferId = nil }),
		"the group itself":   func(f *stripe.Finished) { f.Nodes[0].Group[0] = f.Nodes[0].Buffers[0] },
		"no group":           func(f *stripe.Finished) { f.Nodes[0].Group = nil },
	} {
		t.Run(name, func(t *testing.T) {
			store := storage.NewMemory()
			w, err := Create(t.Context(), "mem://x/s", data.schema, WriterOptions{Store: store})
			require.NoError(t, err)
			sw, err := write.NewWriter(w.columns, write.Options{Groups: [][]int{{0, 1, 2}}, Encoding: encoding.Options{Features: Edition2026.Features()}})
			require.NoError(t, err)
			require.NoError(t, sw.Write(t.Context(), data.columns, data.rows))
			f, err := sw.Finish(t.Context())
			require.NoError(t, err)
			lie(f)
			require.NoError(t, w.out.AppendStripe(t.Context(), f, shardwriter.StripeOptions{Features: f.Features}))
			f.Release()
			require.NoError(t, w.out.Close(t.Context()))
			s := openTest(t, store, "mem://x/s")
			failed := false
			for _, err := range s.Scan(t.Context(), ScanOptions{}) {
				failed = failed || err != nil
				require.True(t, err == nil || fault.Is(err), err)
			}
			require.True(t, failed)
			rep, err := Verify(t.Context(), "mem://x/s", OpenOptions{Store: store}, provider.VerifyOptions{})
			require.NoError(t, err)
			require.False(t, rep.OK())
		})
	}
}
