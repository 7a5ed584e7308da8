package shard_test

import (
	"context"
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

	"github.com/amudai/amudai-go/encoding"
	"github.com/amudai/amudai-go/internal/format/edition"
	"github.com/amudai/amudai-go/internal/testing/arrowgen"
	"github.com/amudai/amudai-go/shard"
	"github.com/amudai/amudai-go/storage"
)

// Created is the fixed creation time of the shards of this package, so that their bytes are
// always the same.
var Created = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)

// Kind is a small shard: its root, and the stripe files of one with two levels
// by their URL.
type Kind struct {
	Name  string
	Root  []byte
	Files map[string][]byte
	Rows  int64
}

// Location is the location of the root of a [Kind] in Files.
const Location = "mem://x/root.amudai.shard"

// Kinds makes small shards of every kind: all types, nested ones, several stripes, both layouts and editions,
// profiles that lead to different encodings. rows scales the number of rows.
func Kinds(t testing.TB, rows int) []Kind {
	t.Helper()
	var out []Kind
	for i, batch := range Batches(rows) {
		o := shard.WriterOptions{
			Profile: encoding.Profile(i % (int(encoding.MinimalSize) + 1)),
			Edition: []edition.Edition{edition.Reference, edition.E2026}[i/2%2],
			Layout:  []shard.Layout{shard.SingleFile, shard.SingleFile, shard.SingleFile, shard.TwoLevel}[i%4],
		}
		if i%3 == 1 {
			o.StripeRows = int64(rows)*2/3 + 1
		}
		out = append(out, NewKind(t, fmt.Sprintf("%02d %v %v %v", i, o.Profile, o.Edition, o.Layout), batch, o))
	}
	return out
}

// NewKind writes one shard.
func NewKind(t testing.TB, name string, batch arrow.RecordBatch, o shard.WriterOptions) Kind {
	t.Helper()
	ctx := context.Background()
	store := storage.NewMemory()
	o.Store, o.CreationTime = store, Created
	w, err := shard.Create(ctx, Location, batch.Schema(), o)
	require.NoError(t, err, name)
	require.NoError(t, w.Write(ctx, batch), name)
	require.NoError(t, w.Close(ctx), name)
	k := Kind{Name: name, Files: map[string][]byte{}, Rows: batch.NumRows()}
	for _, url := range store.Locations() {
		r, err := store.Open(ctx, url)
		require.NoError(t, err)
		b, _, err := r.ReadSuffix(ctx, math.MaxInt32)
		require.NoError(t, err)
		k.Files[url] = slices.Clone(b)
		if url == Location {
			k.Root = k.Files[url]
		}
	}
	return k
}

// Batches makes the tables of [Kinds]: several columns each, which together have every type, and values that suit
// each encoding.
func Batches(rows int) []arrow.RecordBatch {
	out := []arrow.RecordBatch{kindOfNumbers(rows), kindOfTexts(rows), nothing(rows)}
	var group []arrow.Field
	flush := func() {
		if len(group) > 0 {
			g := arrowgen.New(uint64(len(out)))
			g.Nulls = []float64{0, 0.2, 0.9}[len(out)%3]
			out = append(out, g.Batch(arrow.NewSchema(group, nil), rows))
		}
		group = nil
	}
	for i, dt := range arrowgen.ReferenceTypes() {
		group = append(group, arrow.Field{Name: fmt.Sprintf("c%d", i), Type: dt, Nullable: true})
		if len(group) == 3 {
			flush()
		}
	}
	flush()
	return out
}

// kindOfNumbers has columns that suit the numeric encodings.
func kindOfNumbers(rows int) arrow.RecordBatch {
	ints := func(f func(i int64) int64) arrow.Array {
		b := array.NewInt64Builder(memory.DefaultAllocator)
		for i := range rows {
			b.Append(f(int64(i)))
		}
		return b.NewArray()
	}
	floats := func(f func(i int) float64) arrow.Array {
		b := array.NewFloat64Builder(memory.DefaultAllocator)
		for i := range rows {
			b.Append(f(i))
		}
		return b.NewArray()
	}
	return record(rows, map[string]arrow.Array{
		"constant":  ints(func(int64) int64 { return 7 }),
		"sequence":  ints(func(i int64) int64 { return 1_000_000_007 * i }),
		"runs":      ints(func(i int64) int64 { return i / 20 * 982_451_653 }),
		"small":     ints(func(i int64) int64 { return i * i % 11 }),
		"sparse":    ints(func(i int64) int64 { return max(0, i%37-35) * 123_456_789_012 }),
		"outliers":  ints(func(i int64) int64 { return i*7919%100 + i%50/49<<40 }),
		"days":      ints(func(i int64) int64 { return 864_000_000_000 * (i * 31 % 365) }),
		"few":       ints(func(i int64) int64 { return []int64{-5, 1 << 50, 99}[i*i%3] }),
		"signed":    ints(func(i int64) int64 { return i%9 - 4 }),
		"price":     floats(func(i int) float64 { return float64(i*7919%100_000) / 100 }),
		"precise":   floats(func(i int) float64 { return math.Sqrt(float64(i + 2)) }),
		"same bits": floats(func(int) float64 { return math.Copysign(0, -1) }),
	})
}

// kindOfTexts has columns that suit the encodings of byte strings.
func kindOfTexts(rows int) arrow.RecordBatch {
	column := func(f func(i int) string) arrow.Array {
		b := array.NewStringBuilder(memory.DefaultAllocator)
		for i := range rows {
			if i%10 == 9 {
				b.AppendNull()
				continue
			}
			b.Append(f(i))
		}
		return b.NewArray()
	}
	return record(rows, map[string]arrow.Array{
		"few":     column(func(i int) string { return []string{"red", "green", "blue"}[i*i%3] }),
		"lines":   column(func(i int) string { return fmt.Sprintf("GET /index/%d.html?session=%08x", i%17, i*7919) }),
		"unique":  column(func(i int) string { return fmt.Sprint(i * 1_000_003) }),
		"long":    column(func(i int) string { return strings.Repeat(string(rune('a'+i%26)), 50+i%50) }),
		"empty":   column(func(int) string { return "" }),
		"one":     column(func(int) string { return "the same" }),
		"unicode": column(func(i int) string { return strings.Repeat("größe", i%4) }),
	})
}

// nothing is a table without columns.
func nothing(rows int) arrow.RecordBatch {
	return array.NewRecordBatch(arrow.NewSchema(nil, nil), nil, int64(rows))
}

func record(rows int, columns map[string]arrow.Array) arrow.RecordBatch {
	var fields []arrow.Field
	var arrays []arrow.Array
	for name := range columns {
		fields = append(fields, arrow.Field{Name: name, Nullable: true})
	}
	slices.SortFunc(fields, func(a, b arrow.Field) int { return strings.Compare(a.Name, b.Name) })
	for i := range fields {
		arrays = append(arrays, columns[fields[i].Name])
		fields[i].Type = arrays[i].DataType()
	}
	return array.NewRecordBatch(arrow.NewSchema(fields, nil), arrays, int64(rows))
}
