package shard_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/stretchr/testify/require"

	"github.com/amudai/amudai-go/dictionary"
	"github.com/amudai/amudai-go/encoding"
	"github.com/amudai/amudai-go/encoding/bytestring"
	"github.com/amudai/amudai-go/encoding/numeric"
	"github.com/amudai/amudai-go/filter"
	shardpb "github.com/amudai/amudai-go/gen/amudai/shard"
	"github.com/amudai/amudai-go/internal/base/bitmap"
	"github.com/amudai/amudai-go/internal/format/edition"
	"github.com/amudai/amudai-go/internal/format/schema"
	"github.com/amudai/amudai-go/internal/testing/sweep"
	"github.com/amudai/amudai-go/shard"
	"github.com/amudai/amudai-go/table/provider"
)

// textShapes are the encodings of texts that edition 2026 adds, and trees in them.
var textShapes = []string{
	"OnPair(FFOR,FFOR,FLBitPack)", "Fields(LZ4(FFOR),FLBitPack,FLBitPack,TightPack,Plain)",
	"Fields(Plain,Plain,Plain,Delta(FFOR),FrontCoding(FFOR,RadixPack(FFOR)))", "RadixPack(FFOR)",
	"FrontCoding(FFOR,OnPair(FFOR,FFOR,FFOR))", "Template(FLBitPack,FFOR)", "FlatLZ(Delta(FFOR))", "packed dictionary", "shared dictionary",
}

func damagedText(row int) string {
	return fmt.Sprintf("/srv/%d/mail-%03d took %d ms%s", row/9, row, row*row%97, []string{"", " in all", " by eve"}[row%3])
}

// textShard is a shard of one column of texts in an encoding.
func textShard(t testing.TB, shape string) []byte {
	const rows = 64
	b := array.NewStringBuilder(memory.DefaultAllocator)
	values, texts := bytestring.Values{N: rows, Offsets: []int64{0}}, make([][]byte, rows)
	for row := range rows {
		b.Append(damagedText(row))
		texts[row] = []byte(damagedText(row))
		values.Data = append(values.Data, texts[row]...)
		values.Offsets = append(values.Offsets, int64(len(values.Data)))
	}
	s := arrow.NewSchema([]arrow.Field{{Name: "s", Type: arrow.BinaryTypes.String}}, nil)
	batch := array.NewRecordBatch(s, []arrow.Array{b.NewArray()}, rows)
	p, err := Split(NewKind(t, shape, batch, shard.WriterOptions{Profile: encoding.ProfilePlain}).Root)
	require.NoError(t, err)
	f := p.Stripes[0].Fields[0]
	if shape == "packed dictionary" {
		f.SetDictionary(schema.String, 0, texts)
		d := dictionary.NewBuilder(byte(schema.String), 0)
		for _, v := range texts {
			d.Add(v)
		}
		f.Buffer(shardpb.BufferKind_VALUE_DICTIONARY).Raw, err = d.AppendPacked(nil, encoding.Options{Features: edition.E2026.Features()})
		require.NoError(t, err)
		return p.Join()
	}
	if shape == "shared dictionary" {
		tree, tokens := pairOfBytes(t, values)
		f.Buffer(shardpb.BufferKind_DATA).Blocks = []BlockPart{{N: rows, Bytes: Tree(tree)}}
		id := uint32(7)
		f.Buffers = append(f.Buffers, &Buffer{Desc: &shardpb.EncodedBuffer{Kind: shardpb.BufferKind_OPAQUE_DICTIONARY, BufferId: &id}, Raw: tokens})
		return p.Join()
	}
	tree, err := bytestring.AppendTreeAs(nil, values, bitmap.All(rows), shape)
	require.NoError(t, err)
	f.Buffer(shardpb.BufferKind_DATA).Blocks = []BlockPart{{N: rows, Bytes: Tree(tree)}}
	return p.Join()
}

// pairOfBytes is values as a tree of SharedPair, and a dictionary of all bytes.
func pairOfBytes(t testing.TB, v bytestring.Values) (tree, dictionary []byte) {
	counts, codes := make([]uint32, v.N), make([]uint16, len(v.Data))
	for i := range counts {
		counts[i] = uint32(len(v.At(i)))
	}
	for i, b := range v.Data {
		codes[i] = uint16(b)
	}
	le := binary.LittleEndian
	parts, err := numeric.AppendTreeAs(nil, counts, bitmap.All(v.N), "Plain")
	require.NoError(t, err)
	size := len(parts)
	parts = append(parts, make([]byte, -size&7)...)
	parts, err = numeric.AppendTreeAs(parts, codes, bitmap.All(len(codes)), "Plain")
	require.NoError(t, err)
	tree = le.AppendUint16(nil, uint16(encoding.SharedPair))
	for _, n := range []int{7, size, len(codes), len(codes)} {
		tree = le.AppendUint32(tree, uint32(n))
	}
	tree = append(append(tree, 0, 0, 0, 0, 0, 0), parts...)
	dictionary = append(le.AppendUint32(nil, 256), make([]byte, 256)...)
	for b := range 256 {
		dictionary = append(dictionary, byte(b))
	}
	return tree, le.AppendUint32(dictionary, encoding.BlockChecksum(dictionary))
}

var textConditions = []string{"s contains 'took 5'", "s starts with '/srv/3'", "s = '" + damagedText(40) + "'", "s ends with 'eve'"}

// askTexts reads all texts of a shard, and counts those that conditions are true for, the third time in blocks that are kept: each answer, or "error".
func askTexts(t testing.TB, b []byte) (answers []string) {
	ctx := context.Background()
	answer := func(v any, err error) {
		requireKind(t, err)
		if err != nil {
			v = "error"
		}
		answers = append(answers, fmt.Sprint(v))
	}
	s, err := shard.Open(ctx, Location, small(OneFile(b)))
	if err != nil {
		answer(nil, err)
		return answers
	}
	defer s.Close()
	for range 3 {
		for _, condition := range textConditions {
			e, err := filter.Parse(condition)
			require.NoError(t, err)
			answer(s.Count(ctx, e))
		}
	}
	var all strings.Builder
	for batch, err := range s.Scan(ctx, shard.ScanOptions{Parallelism: 1}) {
		if err != nil {
			answer(nil, err)
			return answers
		}
		all.WriteString(batch.Column(0).String())
	}
	answer(all.String(), nil)
	return answers
}

// requireRight asks a damaged shard. Each answer is an error or the right one, and verify finds what a reader stumbles over.
func requireRight(t testing.TB, b []byte, want []string, damage string, at int) (failed bool) {
	answers := askTexts(t, b)
	for i, a := range answers {
		if a == "error" {
			failed = true
		} else if a != want[i] {
			t.Fatalf("%s %d of %d: %s instead of %s", damage, at, len(b), a, want[i])
		}
	}
	if failed {
		r, err := shard.Verify(context.Background(), Location, small(OneFile(b)), provider.VerifyOptions{Parallelism: 1})
		require.NoError(t, err)
		require.NotEmpty(t, r.Problems, "%s %d of %d", damage, at, len(b))
	}
	return failed
}

// TestDamagedTexts flips bits of shards with the encodings of texts, and cuts them. Scans and conditions give an error or the
// right answer. AMUDAI_CENSUS=all flips every bit.
func TestDamagedTexts(t *testing.T) {
	bits, cuts := sweep.Step(113), sweep.Step(61)
	if os.Getenv("AMUDAI_CENSUS") == "all" {
		bits, cuts = 1, 1
	} else if sweep.All() {
		bits, cuts = 11, 3
	}
	for _, shape := range textShapes {
		t.Run(shape, func(t *testing.T) {
			b := textShard(t, shape)
			want := askTexts(t, b)
			require.Len(t, want, 3*len(textConditions)+1)
			require.NotContains(t, want, "error")
			flips, failedFlips, failedCuts := 0, 0, 0
			for bit := 0; bit < 8*len(b); bit += bits {
				b[bit/8] ^= 1 << (bit % 8)
				if flips++; requireRight(t, b, want, "bit", bit) {
					failedFlips++
				}
				b[bit/8] ^= 1 << (bit % 8)
			}
			for n := 0; n < len(b); n += cuts {
				if requireRight(t, b[:n], want, "cut", n) {
					failedCuts++
				}
			}
			t.Logf("%d bytes: %d flips, %d errors; %d errors of cuts", len(b), flips, failedFlips, failedCuts)
		})
	}
}

// TestDamagedTextsMended flips bits below checksums, and corrects these. Nothing panics or takes much memory.
func TestDamagedTextsMended(t *testing.T) {
	step := sweep.Step(151)
	if os.Getenv("AMUDAI_CENSUS") == "all" {
		step = 1
	}
	for _, shape := range textShapes {
		t.Run(shape, func(t *testing.T) {
			p, err := Split(textShard(t, shape))
			require.NoError(t, err)
			b := p.Join()
			flips := 0
			for _, r := range Regions(b) {
				if r.Check != Block && r.Check != Dictionary {
					continue
				}
				for bit := 8 * r.Start; bit < 8*r.End; bit += step {
					c := bytes.Clone(b)
					c[bit/8] ^= 1 << (bit % 8)
					Mend(c)
					askTexts(t, c)
					survive(t, c)
					flips++
				}
			}
			require.NotZero(t, flips)
		})
	}
}
