package compute

import (
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/amudai/amudai-go/internal/engine/ast"
)

// TestChoices compares choices with those made row by row: more rows than a word of bits has, from the middle of an array, with
// constants, null ones too, in every place.
func TestChoices(t *testing.T) {
	s := arrow.NewSchema([]arrow.Field{{Name: "b", Type: arrow.FixedWidthTypes.Boolean, Nullable: true}, {Name: "i", Type: arrow.PrimitiveTypes.Int64, Nullable: true}}, nil)
	rb := array.NewRecordBuilder(memory.DefaultAllocator, s)
	defer rb.Release()
	for k := range 300 {
		if k%5 == 0 {
			rb.Field(0).AppendNull()
		} else {
			rb.Field(0).(*array.BooleanBuilder).Append(k%3 == 0)
		}
		if k%7 == 0 {
			rb.Field(1).AppendNull()
		} else {
			rb.Field(1).(*array.Int64Builder).Append(int64(k))
		}
	}
	whole := rb.NewRecordBatch()
	defer whole.Release()
	for text, want := range map[string]func(b, noB bool, i *int64) any{
		"case when b then i when i > 150 then -1 else 0 end": func(b, _ bool, i *int64) any {
			switch {
			case b && i == nil:
				return nil
			case b:
				return *i
			case i != nil && *i > 150:
				return int64(-1)
			}
			return int64(0)
		},
		"case when not b then 5 end": func(_, noB bool, _ *int64) any {
			if noB {
				return int64(5)
			}
			return nil
		},
		"coalesce(null, i, null, 3, i)": func(_, _ bool, i *int64) any {
			if i == nil {
				return int64(3)
			}
			return *i
		},
		"coalesce(4, i)": func(bool, bool, *int64) any { return int64(4) },
	} {
		n, err := ast.ParseValues(text)
		if err != nil {
			t.Fatal(text, err)
		}
		v, err := Bind(n[0], s)
		if err != nil {
			t.Fatal(text, err)
		}
		for _, from := range []int64{0, 3, 77, 299, 300} {
			batch := whole.NewSlice(from, 300)
			got, err := v.Eval(memory.DefaultAllocator, batch)
			if err != nil {
				t.Fatal(text, err)
			}
			bs, is := batch.Column(0).(*array.Boolean), batch.Column(1).(*array.Int64)
			for k := range int(batch.NumRows()) {
				var i *int64
				if is.IsValid(k) {
					x := is.Value(k)
					i = &x
				}
				var have any
				if got.IsValid(k) {
					have = got.(*array.Int64).Value(k)
				}
				if w := want(bs.IsValid(k) && bs.Value(k), bs.IsValid(k) && !bs.Value(k), i); have != w {
					t.Fatalf("%s, row %d from %d: %v in place of %v", text, k, from, have, w)
				}
			}
			if got.Len() != int(batch.NumRows()) {
				t.Fatalf("%s: %d rows in place of %d", text, got.Len(), batch.NumRows())
			}
			got.Release()
			batch.Release()
		}
	}
}
