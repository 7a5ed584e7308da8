package stripe_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/stretchr/testify/require"

	"github.com/amudai/amudai-go/encoding"
	"github.com/amudai/amudai-go/internal/format/arrowmap"
	"github.com/amudai/amudai-go/internal/format/edition"
	"github.com/amudai/amudai-go/shard/internal/stripe/write"
	"github.com/amudai/amudai-go/storage"
)

// A stripe lists the features that it uses, not those that it is allowed to use.
func TestUsedFeatures(t *testing.T) {
	price := &arrow.Decimal128Type{Precision: 12, Scale: 2}
	s := arrow.NewSchema([]arrow.Field{{Name: "price", Type: price, Nullable: true}}, nil)
	for _, e := range []edition.Edition{edition.Reference, edition.E2026} {
		b := array.NewRecordBuilder(memory.DefaultAllocator, s)
		for i := range 5000 {
			require.NoError(t, b.Field(0).AppendValueFromString([]string{"1.25", "17.50", "3.99"}[i*i%3]))
		}
		batch := b.NewRecordBatch()
		_, columns, err := arrowmap.FromArrow(s, arrowmap.Options{Features: e.Features()})
		require.NoError(t, err)
		w, err := write.NewWriter(columns, write.Options{Budget: storage.NewBudget(1 << 20), Encoding: encoding.Options{Features: e.Features()}})
		require.NoError(t, err)
		require.NoError(t, w.Write(context.Background(), batch.Columns(), 5000))
		f, err := w.Finish(context.Background())
		require.NoError(t, err)
		if e == edition.Reference {
			require.Zero(t, f.Features)
		} else {
			require.True(t, f.Features.Has(edition.DecimalTree), f.Features.String())
			require.False(t, f.Features.Has(edition.UnitNodes), f.Features.String())
		}
		f.Release()
	}
}

// A value dictionary in its packed form adds its own feature, and those of the trees in it.
func TestFeaturesOfDictionaries(t *testing.T) {
	s := arrow.NewSchema([]arrow.Field{{Name: "s", Type: arrow.BinaryTypes.String}}, nil)
	b := array.NewStringBuilder(memory.DefaultAllocator)
	for i := range 20_000 {
		b.Append(fmt.Sprintf("%x", uint64(i/20+1)*0x9e3779b97f4a7c15))
	}
	_, columns, err := arrowmap.FromArrow(s, arrowmap.Options{Features: edition.E2026.Features()})
	require.NoError(t, err)
	w, err := write.NewWriter(columns, write.Options{Budget: storage.NewBudget(1 << 20), Encoding: encoding.Options{Features: edition.E2026.Features()}})
	require.NoError(t, err)
	require.NoError(t, w.Write(context.Background(), []arrow.Array{b.NewArray()}, 20_000))
	f, err := w.Finish(context.Background())
	require.NoError(t, err)
	defer f.Release()
	require.True(t, f.Features.Has(edition.PackedDictionaries), f.Features.String())
	require.True(t, f.Features.Has(edition.RadixPack), f.Features.String())
}
