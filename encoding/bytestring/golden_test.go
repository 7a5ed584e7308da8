package bytestring

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/amudai/amudai-go/encoding"
	"github.com/amudai/amudai-go/encoding/internal/conformance"
	"github.com/amudai/amudai-go/internal/base/bitmap"
	"github.com/amudai/amudai-go/internal/testing/testdata"
)

type vectorInput struct {
	Input    string
	Type     string
	N        int
	Values   []byte
	Lengths  []int
	Validity []byte
}

type goldenBlock struct {
	ID, Input, Type, Tree string
	N                     int
	Checksum, Presence    bool
	Block                 []byte
	Decoded               []byte
}

// fixedSizes are the types of the vectors, with the size of their values.
var fixedSizes = map[string]int{"String": 0, "Binary": 0, "FixedSizeBinary(16)": 16, "FixedSizeBinary(5)": 5}

// values are the strings of an input, nil for null.
func (in vectorInput) values() (out []string) {
	at := 0
	valid := bitmap.Bits{Data: in.Validity, Len: in.N}
	for i := range in.N {
		n := fixedSizes[in.Type]
		if n == 0 {
			n = in.Lengths[i]
		}
		out = append(out, quote(in.Values[at:at+n], valid.At(i)))
		at += n
	}
	return out
}

func readLines[T any](t testing.TB, name string, each func(T)) {
	lines := bufio.NewScanner(bytes.NewReader(testdata.ReadGolden(t, name)))
	lines.Buffer(nil, 64<<20)
	for lines.Scan() {
		var v T
		require.NoError(t, json.Unmarshal(lines.Bytes(), &v))
		each(v)
	}
	require.NoError(t, lines.Err())
}

// eachVector visits the blocks of byte strings that the reference made.
func eachVector(t testing.TB, visit func(v goldenBlock, in vectorInput)) {
	inputs := map[string]vectorInput{}
	readLines(t, "vectors/inputs.jsonl.gz", func(in vectorInput) {
		if _, ok := fixedSizes[in.Type]; ok {
			inputs[in.Input] = in
		}
	})
	readLines(t, "vectors/blocks.jsonl.gz", func(v goldenBlock) {
		if _, ok := fixedSizes[v.Type]; ok {
			visit(v, inputs[v.Input])
		}
	})
}

// decodeAll gives the values of a block, nil for null, through both offset
// types, and checks that nothing is written where it must not.
func decodeAll(t require.TestingT, blk []byte, n, fixed int, o BlockOptions, s *Scratch) []string {
	b, err := Parse(blk, n, fixed, o, s)
	require.NoError(t, err)
	bits := make([]byte, (n+7)/8+1)
	require.Equal(t, b.Nulls(), b.Validity(bits, 3))
	valid := bitmap.Bits{Data: bits, Off: 3, Len: n}
	require.Equal(t, b.Nulls(), valid.Nulls())

	const canary = 0xa5
	size := b.DataLen()
	mem := bytes.Repeat([]byte{canary}, size+64)
	var ends []int64
	if fixed == 0 {
		ends = make([]int64, n)
	}
	require.NoError(t, Decode(b, mem[:size:size], ends, 0))
	require.Equal(t, bytes.Repeat([]byte{canary}, 64), mem[size:])

	// Again with room to spare, narrow offsets, and an offset base.
	wide := make([]byte, size, size+32)
	var narrow []int32
	if fixed == 0 {
		narrow = make([]int32, n)
	}
	require.NoError(t, Decode(b, wide, narrow, 7))
	require.Equal(t, mem[:size], wide)

	// And in three ranges.
	ends32 := make([]int32, len(ends))
	parts := make([]byte, size)
	base := 0
	for _, r := range [][2]int{{0, n / 3}, {n / 3, n / 2}, {n / 2, n}} {
		part := parts[base : base+b.RangeLen(r[0], r[1])]
		var o []int32
		if fixed == 0 {
			o = ends32[r[0]:r[1]]
		}
		require.NoError(t, DecodeRange(b, r[0], r[1], part, o, int32(base)))
		base += len(part)
	}
	require.Equal(t, mem[:size], parts)
	for i, end := range ends {
		if int64(ends32[i]) != end { // require would take longer than decoding
			require.EqualValues(t, end, ends32[i])
		}
	}

	out := make([]string, 0, n)
	at := int64(0)
	for i := range n {
		end := at + int64(fixed)
		if fixed == 0 {
			end = ends[i]
			if int64(narrow[i]) != end+7 {
				require.EqualValues(t, end+7, narrow[i])
			}
		}
		out = append(out, quote(mem[at:end], valid.At(i)))
		at = end
	}
	require.EqualValues(t, size, at)
	return out
}

func TestGolden(t *testing.T) {
	var s Scratch
	count := map[string]int{}
	eachVector(t, func(v goldenBlock, in vectorInput) {
		root, _, _ := strings.Cut(v.Tree, "(")
		root, _, _ = strings.Cut(root, "[")
		count[fmt.Sprintf("%s %s", v.Type, root)]++
		count["all"]++
		want := in
		if v.Decoded != nil {
			want.Values = v.Decoded
		}
		if !v.Presence {
			want.Validity = nil
		}
		got := decodeAll(t, v.Block, v.N, fixedSizes[v.Type], BlockOptions{Checksums: v.Checksum}, &s)
		require.Equal(t, want.values(), got, v.ID)
		f, err := encoding.ParseBlock(v.Block, v.Checksum)
		require.NoError(t, err)
		node := Describe(f.Values, v.N, fixedSizes[v.Type])
		require.NoError(t, node.FirstErr())
		require.NoError(t, conformance.Covered(&node), v.ID)
		require.Equal(t, v.Tree, node.String(), v.ID)
	})
	if testdata.AllGoldens(t) {
		require.Greater(t, count["all"], 400)
	}
	t.Logf("vectors decoded: %v", count)
}
