package stripe_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/stretchr/testify/require"

	"github.com/amudai/amudai-go/internal/arrow/arrowutil"
	"github.com/amudai/amudai-go/internal/format/arrowmap"
	"github.com/amudai/amudai-go/internal/format/edition"
	"github.com/amudai/amudai-go/internal/testing/arrowgen"
	"github.com/amudai/amudai-go/internal/testing/arrowtest"
	"github.com/amudai/amudai-go/shard/internal/stripe/write"
	"github.com/amudai/amudai-go/storage"
)

// tryWrite checks and writes one column, as package shard does. A panic in a goroutine of the writer ends the test.
func tryWrite(t *testing.T, arr arrow.Array) error {
	if err := arrowutil.Check(arr); err != nil {
		return err
	}
	s := arrow.NewSchema([]arrow.Field{{Name: "c", Type: arr.DataType(), Nullable: true}}, nil)
	_, columns, err := arrowmap.FromArrow(s, arrowmap.Options{Features: edition.Only(edition.Unions)})
	require.NoError(t, err)
	w, err := write.NewWriter(columns, write.Options{Budget: storage.NewBudget(1 << 30)})
	require.NoError(t, err)
	defer w.Close()
	if err := w.Write(context.Background(), []arrow.Array{arr}, arr.Len()); err != nil {
		_, again := w.Finish(context.Background())
		require.Error(t, again, "a stripe with an error is finished")
		return err
	}
	f, err := w.Finish(context.Background())
	if err == nil {
		f.Release()
	}
	return err
}

func TestMalformedArraysAreErrors(t *testing.T) {
	for name, arr := range arrowtest.Malformed() {
		if _, ok := arr.DataType().(arrow.UnionType); !ok { // which the format lacks
			t.Run(name, func(t *testing.T) {
				require.ErrorIs(t, tryWrite(t, arr), arrowutil.ErrMalformed)
			})
		}
	}
}

// damage returns a copy of an array with one change to its buffers or to those of a child.
func damage(r *rand.Rand, d arrow.ArrayData) arrow.ArrayData {
	buffers := slices.Clone(d.Buffers())
	children := slices.Clone(d.Children())
	dict, _ := d.Dictionary().(*array.Data)
	n := d.Len()
	switch k := r.IntN(len(buffers) + len(children) + 2); {
	case k < len(buffers):
		if buffers[k] == nil {
			return d
		}
		b := slices.Clone(buffers[k].Bytes())
		switch {
		case r.IntN(3) == 0:
			b = b[:r.IntN(len(b)+1)]
		case len(b) > 0:
			for range 1 + r.IntN(3) {
				b[r.IntN(len(b))] = byte(r.Uint32())
			}
		}
		buffers[k] = memory.NewBufferBytes(b)
	case k < len(buffers)+len(children):
		children[k-len(buffers)] = damage(r, children[k-len(buffers)])
	case k == len(buffers)+len(children) && dict != nil:
		dict = damage(r, dict).(*array.Data)
	default:
		n += r.IntN(9)
	}
	if dict != nil {
		return array.NewDataWithDictionary(d.DataType(), n, buffers, d.NullN(), d.Offset(), dict)
	}
	return array.NewData(d.DataType(), n, buffers, children, d.NullN(), d.Offset())
}

// made returns the array of some data, or nil if Arrow refuses the data.
func made(d arrow.ArrayData) (arr arrow.Array) {
	defer func() {
		if recover() != nil {
			arr = nil
		}
	}()
	return array.MakeFromData(d)
}

// Arrays of every type with damaged buffers are errors or are written. The checks prevent accesses beyond the
// buffers.
func TestDamagedArraysDoNotPanic(t *testing.T) {
	times := 40
	if testing.Short() {
		times = 12
	}
	for i, dt := range arrowgen.Types() {
		t.Run(fmt.Sprint(dt), func(t *testing.T) {
			r := rand.New(rand.NewPCG(uint64(i), 7))
			arr := arrowgen.New(uint64(i)).Array(dt, 40)
			require.NoError(t, arrowutil.Check(arr))
			require.NoError(t, arrowutil.Check(array.NewSlice(arr, 7, 31)))
			for range times {
				damaged := made(damage(r, arr.Data()))
				if damaged == nil {
					continue
				}
				if err := tryWrite(t, damaged); err != nil && !errors.Is(err, arrowutil.ErrMalformed) {
					require.NotContains(t, err.Error(), "internal error", "not found by the check")
				}
			}
		})
	}
}
