package synthetic

import (
	"fmt"
	"math/rand/v2"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/amudai/amudai-go/internal/bench/suite"
)

// ordersSchema is that of orders with items, as services log them.
func ordersSchema() *arrow.Schema {
	item := arrow.StructOf(
		arrow.Field{Name: "sku", Type: arrow.BinaryTypes.String, Nullable: true},
		arrow.Field{Name: "count", Type: arrow.PrimitiveTypes.Int32, Nullable: true},
		arrow.Field{Name: "price", Type: arrow.PrimitiveTypes.Float64, Nullable: true},
		arrow.Field{Name: "notes", Type: arrow.ListOf(arrow.BinaryTypes.String), Nullable: true},
	)
	address := arrow.StructOf(
		arrow.Field{Name: "city", Type: arrow.BinaryTypes.String, Nullable: true},
		arrow.Field{Name: "zip", Type: arrow.PrimitiveTypes.Int64, Nullable: true},
	)
	return arrow.NewSchema([]arrow.Field{
		{Name: "id", Type: arrow.PrimitiveTypes.Int64},
		{Name: "address", Type: address, Nullable: true},
		{Name: "items", Type: arrow.ListOf(item), Nullable: true},
		{Name: "attributes", Type: arrow.MapOf(arrow.BinaryTypes.String, arrow.BinaryTypes.String), Nullable: true},
	}, nil)
}

// Orders makes lists of structs, lists in them, maps, and nulls at every level.
func Orders(d *suite.Dataset, rows int) {
	d.Schema = ordersSchema()
	rnd := rand.New(rand.NewPCG(3, 5))
	b := array.NewRecordBuilder(memory.DefaultAllocator, d.Schema)
	defer b.Release()
	for row := range rows {
		b.Field(0).(*array.Int64Builder).Append(int64(10*row + rnd.IntN(10)))
		appendAddress(rnd, b.Field(1).(*array.StructBuilder))
		appendItems(rnd, b.Field(2).(*array.ListBuilder))
		appendAttributes(rnd, b.Field(3).(*array.MapBuilder))
		if b.Field(0).Len() == suite.BatchRows {
			d.Batches = append(d.Batches, b.NewRecordBatch())
		}
	}
	d.Batches = append(d.Batches, b.NewRecordBatch())
}

// skewed is a number below n, small ones more often.
func skewed(rnd *rand.Rand, n int) int { return int(float64(n) * rnd.Float64() * rnd.Float64()) }

func appendAddress(rnd *rand.Rand, b *array.StructBuilder) {
	if rnd.IntN(20) == 0 {
		b.AppendNull()
		return
	}
	b.Append(true)
	b.FieldBuilder(0).(*array.StringBuilder).Append(fmt.Sprintf("city %d", skewed(rnd, 800)))
	if zip := b.FieldBuilder(1).(*array.Int64Builder); rnd.IntN(10) == 0 {
		zip.AppendNull()
	} else {
		zip.Append(int64(10_000 + skewed(rnd, 80_000)))
	}
}

func appendItems(rnd *rand.Rand, b *array.ListBuilder) {
	if rnd.IntN(50) == 0 {
		b.AppendNull()
		return
	}
	b.Append(true)
	items := b.ValueBuilder().(*array.StructBuilder)
	for range skewed(rnd, 10) {
		if rnd.IntN(100) == 0 {
			items.AppendNull()
			continue
		}
		items.Append(true)
		items.FieldBuilder(0).(*array.StringBuilder).Append(fmt.Sprintf("SKU-%06d", skewed(rnd, 30_000)))
		items.FieldBuilder(1).(*array.Int32Builder).Append(int32(1 + skewed(rnd, 12)))
		items.FieldBuilder(2).(*array.Float64Builder).Append(float64(skewed(rnd, 50_000)) / 100)
		notes := items.FieldBuilder(3).(*array.ListBuilder)
		if rnd.IntN(3) > 0 {
			notes.AppendNull()
			continue
		}
		notes.Append(true)
		for range rnd.IntN(3) {
			notes.ValueBuilder().(*array.StringBuilder).Append(fmt.Sprintf("note %d of the customer", skewed(rnd, 500)))
		}
	}
}

func appendAttributes(rnd *rand.Rand, b *array.MapBuilder) {
	if rnd.IntN(10) == 0 {
		b.AppendNull()
		return
	}
	b.Append(true)
	for _, key := range []string{"channel", "device", "campaign", "referrer"} {
		if rnd.IntN(2) == 0 {
			continue
		}
		b.KeyBuilder().(*array.StringBuilder).Append(key)
		if value := b.ItemBuilder().(*array.StringBuilder); rnd.IntN(8) == 0 {
			value.AppendNull()
		} else {
			value.Append(fmt.Sprintf("%s-%d", key, skewed(rnd, 40)))
		}
	}
}
