package numeric

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/amudai/amudai-go/encoding"
	"github.com/amudai/amudai-go/encoding/internal/conformance"
	"github.com/amudai/amudai-go/encoding/numeric/internal/word"
	"github.com/amudai/amudai-go/internal/base/bitmap"
	"github.com/amudai/amudai-go/internal/testing/sweep"
	"github.com/amudai/amudai-go/internal/testing/testdata"
)

// vector is a block that the reference wrote, with its input.
type vector struct {
	ID, Input, Type, Requested, Tree string
	N                                int
	Checksum, Presence               bool
	PresenceKind                     string `json:"presence_kind"`
	Block                            []byte
	Decoded                          []byte // stored values, if the reference changed them
}

type vectorInput struct {
	Input, Type string
	N           int
	Values      []byte
	Validity    []byte
}

func readLines[T any](t testing.TB, name string) []T {
	var out []T
	lines := bufio.NewScanner(bytes.NewReader(testdata.ReadGolden(t, name)))
	lines.Buffer(nil, 1<<26)
	for lines.Scan() {
		var v T
		require.NoError(t, json.Unmarshal(lines.Bytes(), &v))
		out = append(out, v)
	}
	require.NoError(t, lines.Err())
	return out
}

var golden struct {
	blocks []vector
	inputs map[string]vectorInput
}

// vectors returns the blocks of numbers and their inputs.
func vectors(t testing.TB) ([]vector, map[string]vectorInput) {
	if golden.blocks == nil {
		golden.inputs = map[string]vectorInput{}
		for _, in := range readLines[vectorInput](t, "vectors/inputs.jsonl.gz") {
			golden.inputs[in.Input] = in
		}
		for _, v := range readLines[vector](t, "vectors/blocks.jsonl.gz") {
			if _, ok := parseType(v.Type); ok {
				golden.blocks = append(golden.blocks, v)
			}
		}
	}
	return golden.blocks, golden.inputs
}

func parseType(name string) (Type, bool) {
	if name == "DateTime" {
		return U64, true
	}
	for t := I8; t <= F64; t++ {
		if t.String() == name {
			return t, true
		}
	}
	return 0, false
}

// decodeBytes decodes a block of a type known at run time, and returns the bytes of its values.
func decodeBytes(t Type, n int, validity []byte, off int, blk []byte, o BlockOptions, s *Scratch) (values []byte, nulls int, err error) {
	switch t {
	case I8:
		return decodeBytesOf[int8](n, validity, off, blk, o, s)
	case I16:
		return decodeBytesOf[int16](n, validity, off, blk, o, s)
	case I32:
		return decodeBytesOf[int32](n, validity, off, blk, o, s)
	case I64:
		return decodeBytesOf[int64](n, validity, off, blk, o, s)
	case U8:
		return decodeBytesOf[uint8](n, validity, off, blk, o, s)
	case U16:
		return decodeBytesOf[uint16](n, validity, off, blk, o, s)
	case U32:
		return decodeBytesOf[uint32](n, validity, off, blk, o, s)
	case U64:
		return decodeBytesOf[uint64](n, validity, off, blk, o, s)
	case F32:
		return decodeBytesOf[float32](n, validity, off, blk, o, s)
	}
	return decodeBytesOf[float64](n, validity, off, blk, o, s)
}

func decodeBytesOf[T Value](n int, validity []byte, off int, blk []byte, o BlockOptions, s *Scratch) ([]byte, int, error) {
	dst := make([]T, n)
	nulls, err := DecodeBlock(dst, validity, off, blk, o, s)
	return word.Store(nil, dst), nulls, err
}

var presenceNames = map[string]string{"none": "none", "bytes": "Plain", "all-null": "AllNulls",
	"roaring-present": "Roaring", "roaring-nulls": "Roaring negated"}

// Every block of numbers from the reference decodes bit for bit.
func TestGoldenVectors(t *testing.T) {
	blocks, inputs := vectors(t)
	require.NotEmpty(t, blocks)
	var s Scratch
	byTree, byType, values := map[string]int{}, map[string]int{}, 0
	for _, v := range blocks {
		typ, _ := parseType(v.Type)
		in := inputs[v.Input]
		require.Equal(t, v.N, in.N, v.ID)
		validity := bytes.Repeat([]byte{0xa5}, v.N/8+2)
		got, nulls, err := decodeBytes(typ, v.N, validity, 3, v.Block, BlockOptions{Checksums: v.Checksum}, &s)
		require.NoError(t, err, v.ID)
		want := in.Values
		if v.Decoded != nil {
			want = v.Decoded
		}
		valid := bitmap.All(v.N)
		if in.Validity != nil && v.Presence {
			valid.Data = in.Validity
		}
		require.Equal(t, valid.Nulls(), nulls, v.ID)
		bits := bitmap.Bits{Data: validity, Off: 3, Len: v.N}
		for i := range v.N {
			require.Equal(t, valid.At(i), bits.At(i), "%s: slot %d", v.ID, i)
			size := typ.Size()
			if valid.At(i) && !bytes.Equal(want[i*size:(i+1)*size], got[i*size:(i+1)*size]) {
				require.Failf(t, "wrong value", "%s: slot %d: %x, want %x", v.ID, i, got[i*size:(i+1)*size], want[i*size:(i+1)*size])
			}
		}
		b, err := encoding.ParseBlock(v.Block, v.Checksum)
		require.NoError(t, err)
		node := Describe(b.Values, typ, v.N)
		require.NoError(t, node.FirstErr(), v.ID)
		require.NoError(t, conformance.Covered(&node), v.ID)
		require.Equal(t, v.Tree, node.String(), v.ID)
		require.Equal(t, presenceNames[v.PresenceKind], encoding.PresenceKind(b.Presence), v.ID)
		byTree[regexp.MustCompile(`\[[^]]*\]`).ReplaceAllString(v.Tree, "")]++
		byType[v.Type]++
		values += v.N
	}
	t.Logf("%d blocks of %d values decoded bit for bit, %d kinds of trees", len(blocks), values, len(byTree))
	t.Log("by type:", counts(byType))
	t.Log("by tree:", counts(byTree))
}

func counts(m map[string]int) string {
	var parts []string
	for _, k := range slices.Sorted(maps.Keys(m)) {
		parts = append(parts, fmt.Sprintf("%s %d", k, m[k]))
	}
	return strings.Join(parts, ", ")
}

// A cut golden block without checksum gives an error or the same number of values, never a panic.
func TestGoldenCut(t *testing.T) {
	blocks, _ := vectors(t)
	var s Scratch
	for i, v := range blocks {
		if i%(7*sweep.Step(11)) != 0 || len(v.Block) > 4096 {
			continue
		}
		typ, _ := parseType(v.Type)
		b, err := encoding.ParseBlock(v.Block, v.Checksum)
		require.NoError(t, err)
		for cut := range len(b.Values) {
			n := Describe(b.Values[:cut], typ, v.N)
			_ = n.String()
			framed, mark := encoding.BeginBlock(nil)
			framed = encoding.EndPresence(framed, mark)
			framed = encoding.EndBlock(append(framed, b.Values[:cut]...), mark, false)
			_, _, _ = decodeBytes(typ, v.N, nil, 0, framed, BlockOptions{}, &s)
		}
	}
}
