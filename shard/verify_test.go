package shard

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"

	commonpb "github.com/amudai/amudai-go/gen/amudai/common"
	shardpb "github.com/amudai/amudai-go/gen/amudai/shard"
	"github.com/amudai/amudai-go/internal/testing/golden"
	"github.com/amudai/amudai-go/internal/testing/sweep"
	"github.com/amudai/amudai-go/internal/testing/testdata"
	"github.com/amudai/amudai-go/shard/internal/shardwriter"
	"github.com/amudai/amudai-go/shard/internal/stripe"
	"github.com/amudai/amudai-go/shard/internal/stripe/write"
	"github.com/amudai/amudai-go/storage"
	"github.com/amudai/amudai-go/table/provider"
)

// TestVerifyGoldens finds no problem in any shard of the reference.
func TestVerifyGoldens(t *testing.T) {
	all := map[string]int64{}
	for _, g := range golden.Shards(t) {
		t.Run(g.File, func(t *testing.T) {
			r, err := Verify(context.Background(), g.Path(t), OpenOptions{}, provider.VerifyOptions{})
			require.NoError(t, err)
			for _, f := range r.Problems {
				t.Errorf("%v", f)
			}
			for _, f := range r.Notes {
				t.Logf("note: %v", f)
			}
			for _, c := range r.Checked {
				all[c.Name] += c.N
			}
		})
	}
	t.Logf("%+v", all)
}

// TestVerifyIndexes does the same for the shards that contain the reference's indexes, which have no other
// recorded metadata.
func TestVerifyIndexes(t *testing.T) {
	files, err := filepath.Glob(filepath.Join(testdata.Shared(t), "golden", "amudai", "indexes", "*", "*.shard"))
	require.NoError(t, err)
	require.NotEmpty(t, files)
	values := int64(0)
	for _, f := range files {
		r, err := Verify(context.Background(), f, OpenOptions{}, provider.VerifyOptions{})
		require.NoError(t, err)
		require.Empty(t, r.Problems, f)
		values += r.Number("value")
	}
	t.Logf("%d shards with %d values", len(files), values)
}

// TestVerifyNamesTheBit flips one bit of every byte of small shards. Verify must report all damage that affects
// readers, and name the bit if the checksum of a message or block covers it.
func TestVerifyNamesTheBit(t *testing.T) {
	ctx := context.Background()
	for name, b := range smallShards(t) {
		if !strings.HasPrefix(name, "ours") || !(strings.HasSuffix(name, "reference Balanced") || strings.HasSuffix(name, "apart") || strings.HasSuffix(name, "packed")) {
			continue
		}
		t.Run(name, func(t *testing.T) {
			named, failed := 0, 0
			for i := len(name) % 3; i < len(b); i += sweep.Step(11) {
				bit := (i*5 + len(name)) % 8
				b[i] ^= 1 << bit
				_, readErr := readBatches(b)
				r, err := Verify(ctx, "mem://x/census", OpenOptions{Store: bytesStore{b: b}}, provider.VerifyOptions{Parallelism: 1})
				b[i] ^= 1 << bit
				require.NoError(t, err)
				if readErr == nil {
					continue
				}
				failed++
				require.False(t, r.OK(), "byte %d bit %d: %v", i, bit, readErr)
				if !errors.Is(readErr, ErrChecksum) {
					continue
				}
				var bits []FlippedBit
				for _, p := range r.Problems {
					if f := new(FlippedBit); errors.As(p, &f) {
						bits = append(bits, FlippedBit{Artifact: f.Artifact, Offset: f.Offset, Bit: f.Bit})
					}
				}
				require.Equal(t, []FlippedBit{{Artifact: "census", Offset: int64(i), Bit: bit}}, bits)
				named++
			}
			t.Logf("%d bytes, %d damages, %d bits named", len(b), failed, named)
		})
	}
}

// TestVerifyFindsLies changes statements about the data, with valid checksums.
func TestVerifyFindsLies(t *testing.T) {
	ctx := context.Background()
	data := numbered(1000, 6)
	for name, lie := range map[string]func(f *stripe.Finished){
		"null_count":       func(f *stripe.Finished) { f.Nodes[0].Field.NullCount = proto.Uint64(1) },
		"raw_data_size":    func(f *stripe.Finished) { f.Nodes[0].Field.RawDataSize = proto.Uint64(5) },
		"minimum":          func(f *stripe.Finished) { f.Nodes[0].Field.RangeStats.MinValue = i64(1) },
		"maximum":          func(f *stripe.Finished) { f.Nodes[0].Field.RangeStats.MaxValue = i64(1001) },
		"constant value, ": func(f *stripe.Finished) { find(f, schemaString).ConstantValue = textValue("x") },
		"sketch":           func(f *stripe.Finished) { find(f, schemaString).Cardinality.HllSketch.Counters[3] ^= 1 },
		"ascii_count":      func(f *stripe.Finished) { find(f, schemaString).GetStringStats().AsciiCount = proto.Uint64(0) },
		"the block map 1":  func(f *stripe.Finished) { f.Nodes[0].Buffers[0].Desc.BlockCount = proto.Uint64(99) },
		"floating_stats":   func(f *stripe.Finished) { find(f, schemaFloat).GetFloatingStats().ZeroCount += 1 },
		"max_length":       func(f *stripe.Finished) { find(f, schemaList).GetListStats().MaxLength += 1 },
		"positions, expec": func(f *stripe.Finished) {
			find(f, schemaList).PositionCount += 1
			f.Nodes[0].Field.PositionCount = 1000
		},
	} {
		t.Run(name, func(t *testing.T) {
			store := storage.NewMemory()
			w, err := Create(ctx, "mem://x/s", data.schema, WriterOptions{Store: store})
			require.NoError(t, err)
			sw, err := write.NewWriter(w.columns, write.Options{})
			require.NoError(t, err)
			require.NoError(t, sw.Write(ctx, data.columns, data.rows))
			f, err := sw.Finish(ctx)
			require.NoError(t, err)
			lie(f)
			err = w.out.AppendStripe(ctx, f, shardwriter.StripeOptions{})
			if name == "positions, expec" {
				require.Error(t, err) // the writer counts, too
				require.NoError(t, w.Abort(ctx))
				return
			}
			require.NoError(t, err)
			require.NoError(t, w.Close(ctx))
			r, err := Verify(ctx, "mem://x/s", OpenOptions{Store: store}, provider.VerifyOptions{})
			require.NoError(t, err)
			require.NotEmpty(t, r.Problems)
			var all []string
			for _, p := range r.Problems {
				all = append(all, p.Error())
			}
			require.Contains(t, strings.Join(all, "\n"), name)
		})
	}
}

func i64(v int64) *commonpb.AnyValue {
	return &commonpb.AnyValue{Kind: &commonpb.AnyValue_I64Value{I64Value: v}}
}

func textValue(s string) *commonpb.AnyValue {
	return &commonpb.AnyValue{Kind: &commonpb.AnyValue_StringValue{StringValue: s}}
}

func schemaString(f *shardpb.FieldDescriptor) bool { return f.GetStringStats() != nil }
func schemaFloat(f *shardpb.FieldDescriptor) bool  { return f.GetFloatingStats() != nil }
func schemaList(f *shardpb.FieldDescriptor) bool   { return f.GetListStats() != nil }

// find returns the first descriptor of a kind.
func find(f *stripe.Finished, is func(*shardpb.FieldDescriptor) bool) *shardpb.FieldDescriptor {
	for _, n := range f.Nodes {
		if is(n.Field) {
			return n.Field
		}
	}
	return nil
}

// TestVerifyStripeFiles: a damaged header of a stripe file is a note, because readers ignore it. A missing stripe
// file is a problem.
func TestVerifyStripeFiles(t *testing.T) {
	ctx := context.Background()
	dir := t.TempDir()
	location := filepath.Join(dir, "s")
	writeTable(t, location, numbered(100, 2), WriterOptions{Layout: TwoLevel}, 100)
	files, err := filepath.Glob(filepath.Join(dir, "*"+shardwriter.StripeSuffix))
	require.NoError(t, err)
	require.Len(t, files, 1)
	b, err := os.ReadFile(files[0])
	require.NoError(t, err)
	b[0] ^= 1
	require.NoError(t, os.WriteFile(files[0], b, 0o666))
	r, err := Verify(ctx, location, OpenOptions{}, provider.VerifyOptions{})
	require.NoError(t, err)
	require.True(t, r.OK(), "%v", r.Problems)
	require.Len(t, r.Notes, 1)
	require.ErrorContains(t, r.Notes[0], "header")

	require.NoError(t, os.Remove(files[0]))
	r, err = Verify(ctx, location, OpenOptions{}, provider.VerifyOptions{})
	require.NoError(t, err)
	require.False(t, r.OK())
	require.ErrorIs(t, r.Problems[0], os.ErrNotExist)
}
