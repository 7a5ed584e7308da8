package stripe_test

import (
	"fmt"
	"math"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/amudai/amudai-go/internal/arrow/arrowutil"
	"github.com/amudai/amudai-go/internal/testing/arrowgen"
	"github.com/amudai/amudai-go/internal/testing/sweep"
	"github.com/amudai/amudai-go/shard/internal/stripe/write"
)

// Every Arrow type comes back with the same type and values.
func TestEveryType(t *testing.T) {
	for _, dt := range arrowgen.Types() {
		t.Run(dt.String(), func(t *testing.T) {
			s := arrow.NewSchema([]arrow.Field{{Name: "c", Type: dt, Nullable: true}}, nil)
			for seed := range uint64(6) {
				if testing.Short() && seed != 1 {
					continue // enough for the race detector
				}
				g := arrowgen.New(seed)
				g.Nulls = []float64{0, 0.1, 0.9, 1, 0.003, 0.5}[seed]
				var batches []arrow.RecordBatch
				for _, n := range []int{0, 1, 700, 3000} {
					batches = append(batches, g.Batch(s, n))
				}
				check(t, s, batches, write.Options{})
			}
		})
	}
}

// So it does in every profile and edition.
func TestEveryOption(t *testing.T) {
	var fields []arrow.Field
	for i, dt := range arrowgen.Types() {
		fields = append(fields, arrow.Field{Name: fmt.Sprint(i), Type: dt, Nullable: true})
	}
	s := arrow.NewSchema(fields, nil)
	g := arrowgen.New(11)
	batches := []arrow.RecordBatch{g.Batch(s, 1), g.Batch(s, 900), g.Batch(s, sweep.Count(300, 2100))}
	everyOption(t, func(t *testing.T, o write.Options) { check(t, s, batches, o) })
}

// Values under a null parent have no meaning, and may be out of range.
func TestGarbageUnderNullParents(t *testing.T) {
	ts := &arrow.TimestampType{Unit: arrow.Second}
	inner := arrow.StructOf(arrow.Field{Name: "t", Type: ts, Nullable: true}, arrow.Field{Name: "s", Type: arrow.BinaryTypes.String, Nullable: true})
	times := array.NewTimestampBuilder(memory.DefaultAllocator, ts)
	times.AppendValues([]arrow.Timestamp{1, math.MaxInt64, 3, math.MinInt64}, nil)
	texts := array.NewStringBuilder(memory.DefaultAllocator)
	texts.AppendValues([]string{"a", "\xff\xfe", "", "\x80"}, nil)
	children := []arrow.ArrayData{times.NewArray().Data(), texts.NewArray().Data()}
	valid := memory.NewBufferBytes([]byte{0b0101})
	records := array.MakeFromData(array.NewData(inner, 4, []*memory.Buffer{valid}, children, 2, 0))
	offsets := func(v ...int32) *memory.Buffer { return memory.NewBufferBytes(arrowutil.Bytes(v)) }
	list := array.MakeFromData(array.NewData(arrow.ListOf(ts), 4, []*memory.Buffer{valid, offsets(0, 1, 2, 3, 4)}, children[:1], 2, 0))
	fixed := array.MakeFromData(array.NewData(arrow.FixedSizeListOf(1, ts), 4, []*memory.Buffer{valid}, children[:1], 2, 0))
	for _, arr := range []arrow.Array{records, list, fixed} {
		s := arrow.NewSchema([]arrow.Field{{Name: "c", Type: arr.DataType(), Nullable: true}}, nil)
		batch := array.NewRecordBatch(s, []arrow.Array{arr}, 4)
		check(t, s, []arrow.RecordBatch{batch, batch.NewSlice(1, 3)}, write.Options{})
	}
}
