package numeric

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/amudai/amudai-go/encoding/numeric/internal/trees"
	"github.com/amudai/amudai-go/encoding/numeric/internal/word"
	"github.com/amudai/amudai-go/internal/base/bitmap"
	"github.com/amudai/amudai-go/internal/testing/sweep"
)

// pair is the result type of a conversion: wider than any value, and not a number.
type pair struct{ low, high uint64 }

// toPair converts a value to itself and its double.
type toPair[T Value] struct {
	line bool // Line may be used
	bad  T    // value without a result, unless 0
}

func (c toPair[T]) Values(dst []pair, src []T) bool {
	ok := true
	for i, v := range src {
		dst[i] = pair{wordOf(v), 2 * wordOf(v)}
		ok = ok && (c.bad == 0 || v != c.bad)
	}
	return ok
}

func (c toPair[T]) Line(base, step, _ uint64) (a, b uint64, ok bool) { return base, step, c.line }

func (c toPair[T]) Steps(dst []pair, q []T, a, b uint64) {
	for i, v := range q {
		w := a + b*wordOf(v)
		dst[i] = pair{w, 2 * w}
	}
}

// wordOf returns the bits of a value.
func wordOf[T Value](v T) uint64 { return loadOneOf(word.Bytes([]T{v})) }

func loadOneOf(b []byte) (w uint64) {
	for i, x := range b {
		w |= uint64(x) << (8 * i)
	}
	return w
}

func testChange[T Value](t *testing.T) {
	var s Scratch
	for _, c := range casesOf[T]() {
		if len(c.values) >= 3000 || len(c.values) == 0 {
			continue
		}
		for _, shape := range append([]string{"CommonDivisor(PatchedPack(raw,raw))", "FOR(CommonDivisor(FLBitPack))"}, allShapes...) {
			p, err := parseShape(shape)
			if err != nil || !suits(p, Of[T]()) {
				continue
			}
			tree, err := AppendTreeAs(nil, c.values, c.valid, shape)
			require.NoError(t, err)
			want := make([]T, len(c.values))
			require.NoError(t, Decode(want, tree, &s))
			pairs := make([]pair, len(want))
			require.True(t, toPair[T]{}.Values(pairs, want))
			for _, line := range []bool{false, true} {
				got := make([]pair, len(want))
				require.NoError(t, DecodeAs(got, tree, toPair[T]{line: line}, &s), shape)
				if code := trees.Peek(tree); code.String() == "BlockDictionary" || code.String() == "Sparse" {
					for i := range got {
						if !c.valid.At(i) {
							got[i] = pairs[i] // the result of a null is undefined
						}
					}
				}
				if !slices.Equal(pairs, got) { // require.Equal takes ten times as long
					require.Equal(t, pairs, got, "%v %s %s", Of[T](), c.name, shape)
				}
			}
		}
	}
}

// Decoding with a conversion equals decoding first, for every tree.
func TestDecodeAs(t *testing.T) {
	testChange[int64](t)
	if sweep.All() {
		testChange[uint64](t)
		testChange[int32](t)
		testChange[uint8](t)
	}
	testChange[float32](t)
}

// A value without a result is an error, wherever the tree stores it.
func TestErrChange(t *testing.T) {
	values := make([]int64, 2000)
	for i := range values {
		values[i] = int64(i / 100 * 6)
	}
	var s Scratch
	for _, shape := range []string{"Plain", "FFOR", "RunLength(raw,raw)", "BlockDictionary(FLBitPack,raw)", "CommonDivisor(FLBitPack)"} {
		tree, err := AppendTreeAs(nil, values, bitmap.All(len(values)), shape)
		require.NoError(t, err)
		dst := make([]pair, len(values))
		require.NoError(t, DecodeAs(dst, tree, toPair[int64]{bad: 1}, &s), shape)
		require.ErrorIs(t, DecodeAs(dst, tree, toPair[int64]{bad: 60}, &s), ErrChange, shape)
	}
	tree, err := AppendTreeAs(nil, values[:50], bitmap.All(50), "SingleValue")
	require.NoError(t, err)
	require.NoError(t, DecodeAs(make([]pair, 50), tree, toPair[int64]{bad: 1}, &s))
}
