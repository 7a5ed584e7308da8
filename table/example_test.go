package table_test

import (
	"cmp"
	"context"
	"fmt"
	"log"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/amudai/amudai-go/filter"
	"github.com/amudai/amudai-go/shard"
	"github.com/amudai/amudai-go/table"
	_ "github.com/amudai/amudai-go/table/formats"
	"github.com/amudai/amudai-go/table/provider"
	"github.com/amudai/amudai-go/table/text"
)

// sales are the tables of two years, with the options of their format.
func sales(ctx context.Context) *table.Table {
	german := text.CSVOptions{Delimiter: ';', Decimal: ',', Thousands: '.', Dates: text.DMY, Nulls: []string{"N/A"}}
	t, err := table.OpenWith(ctx, table.OpenOptions{Formats: []provider.Format{text.CSV(german)}}, "../testdata/tour/sales-*.csv")
	if err != nil {
		log.Fatal(err)
	}
	return t
}

func ExampleOpen() {
	ctx := context.Background()
	t, err := table.Open(ctx, "../testdata/traces/shop.otlp.jsonl", "../testdata/logs")
	if err != nil {
		log.Fatal(err)
	}
	defer t.Close()
	for i, f := range t.Formats() {
		fmt.Println(t.Locations()[i], f.Title)
	}
	n, err := t.Count(ctx, table.ScanOptions{Filter: filter.Eq(filter.Col("span:name"), "POST /checkout")})
	fmt.Println(n, err)
	// Output:
	// ../testdata/traces/shop.otlp.jsonl OTLP/JSON
	// ../testdata/logs/app.log lines of text
	// 2 <nil>
}

// Rows are Go structs. Only the columns that the type has fields for are read; the filter may use others.
func ExampleRowsOf() {
	ctx := context.Background()
	t := sales(ctx)
	defer t.Close()
	type sale struct {
		Order   int
		Channel *string // nil is null
	}
	for sale, err := range table.RowsOf[sale](ctx, t, table.ScanOptions{Filter: filter.Gt(filter.Col("Total"), 100)}) {
		if err != nil {
			log.Fatal(err)
		}
		if sale.Channel != nil {
			fmt.Println(sale.Order, *sale.Channel)
		}
	}
	// Output:
	// 2002 shop
}

func ExampleTable_Scan() {
	ctx := context.Background()
	t := sales(ctx)
	defer t.Close()
	for batch, err := range t.Scan(ctx, table.ScanOptions{Columns: []string{"Order", "Total", "Channel"}, Filter: filter.Gt(filter.Col("Total"), 100)}) {
		if err != nil {
			log.Fatal(err)
		}
		for i := range int(batch.NumRows()) {
			fmt.Println(batch.Column(0).ValueStr(i), batch.Column(1).ValueStr(i), batch.Column(2).ValueStr(i))
		}
	}
	// Output:
	// 1001 1234.5 (null)
	// 1004 310.25 (null)
	// 2002 2000 shop
}

func ExampleTable_Group() {
	ctx := context.Background()
	t := sales(ctx)
	defer t.Close()
	for batch, err := range t.Group(ctx, table.GroupOptions{By: "year(Date)", Aggregates: "count(), sum(Total) as total", Sort: "-total"}) {
		if err != nil {
			log.Fatal(err)
		}
		for i := range int(batch.NumRows()) {
			fmt.Println(batch.Column(0).ValueStr(i), batch.Column(1).(*array.Int64).Value(i), batch.Column(2).(*array.Float64).Value(i))
		}
	}
	// Output:
	// 2026 3 2045
	// 2025 4 1646.65
}

func ExampleTable_Sort() {
	ctx := context.Background()
	t := sales(ctx)
	defer t.Close()
	for batch, err := range t.Sort(ctx, table.SortOptions{By: "-Total", Columns: []string{"Customer", "Total"}, Limit: 2}) {
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(batch.Column(0), batch.Column(1))
	}
	// Output:
	// ["Ito" "Åsa Lind"] [2000 1234.5]
}

func ExampleTable_Take() {
	ctx := context.Background()
	t := sales(ctx)
	defer t.Close()
	for batch, err := range t.Take(ctx, table.TakeOptions{Rows: []int64{6, 0, 6}, Columns: []string{"Order"}}) {
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(batch.Column(0))
	}
	// Output:
	// [2003 1001 2003]
}

func ExampleTable_Search() {
	ctx := context.Background()
	t, err := table.Open(ctx, "../testdata/logs/app.log")
	if err != nil {
		log.Fatal(err)
	}
	defer t.Close()
	for rows, err := range t.Search(ctx, table.SearchOptions{Query: `error "reset by peer"`, Columns: []string{"line"}, After: 1, Limit: 1}) {
		if err != nil {
			log.Fatal(err)
		}
		for i, position := range rows.Positions {
			fmt.Println(position, rows.Context[i], rows.Column(0).ValueStr(i))
		}
	}
	// Output:
	// 26 false 2026-11-20T07:59:46.691Z ERROR store: connection reset by peer while reading blk_4198575043 from 10.20.6.248
	// 27 true 	at store.read(block.go:214)
}

// Rows in the order of their scores, the best first. The index with frequencies finds them without a look at the others.
func ExampleTable_Search_byScore() {
	ctx := context.Background()
	written := array.NewRecordBuilder(memory.DefaultAllocator, arrow.NewSchema([]arrow.Field{
		{Name: "page", Type: arrow.PrimitiveTypes.Int64}, {Name: "text", Type: arrow.BinaryTypes.String},
	}, nil))
	defer written.Release()
	for page, text := range []string{"The river is wide.", "Ducks swim in rivers, and a duck in a river dives.", "A bank lends money.", "The duck is on the bank of the river."} {
		written.Field(0).(*array.Int64Builder).Append(int64(page + 1))
		written.Field(1).(*array.StringBuilder).Append(text)
	}
	pages := written.NewRecordBatch()
	defer pages.Release()
	const location = "mem://example/pages.amudai.shard"
	w, err := shard.Create(ctx, location, pages.Schema(), shard.WriterOptions{})
	if err == nil {
		err = cmp.Or(w.Write(ctx, pages), w.Close(ctx), shard.AddIndex(ctx, location, shard.EditOptions{}, shard.IndexDefinition{
			Type: shard.TermIndex, Columns: []string{"text"}, Properties: []shard.Property{{Name: "scores", Value: true}, {Name: "tokenizers", Value: []any{"english"}}},
		}))
	}
	if err != nil {
		log.Fatal(err)
	}

	t, err := table.Open(ctx, location)
	if err != nil {
		log.Fatal(err)
	}
	defer t.Close()
	best := table.SearchOptions{Query: "ducks OR rivers", In: []string{"text"}, Columns: []string{"page", "text"}, Rank: &table.RankOptions{}, Limit: 10}
	for rows, err := range t.Search(ctx, best) {
		if err != nil {
			log.Fatal(err)
		}
		for i, rank := range rows.Ranks {
			fmt.Printf("%.2f page %s: %s\n", rank.Score, rows.Column(0).ValueStr(i), rows.Column(1).ValueStr(i))
		}
	}
	// Output:
	// 1.24 page 2: Ducks swim in rivers, and a duck in a river dives.
	// 0.94 page 4: The duck is on the bank of the river.
	// 0.43 page 1: The river is wide.
}

func ExampleTable_Statistics() {
	ctx := context.Background()
	t, err := table.Open(ctx, "../shard/testdata/unknown/known.amudai.shard") // its values are damaged, its statistics are not
	if err != nil {
		log.Fatal(err)
	}
	defer t.Close()
	files, err := t.Statistics(ctx, []string{"n"})
	if err != nil {
		log.Fatal(err)
	}
	n := files[0].Columns[0]
	fmt.Println(files[0].Rows, n.Nulls, n.Min, n.Max)
	// Output:
	// 3000 0 [0] [2]
}

func ExampleTable_Explain() {
	ctx := context.Background()
	t, err := table.Open(ctx, "../shard/testdata/unknown/known.amudai.shard")
	if err != nil {
		log.Fatal(err)
	}
	defer t.Close()
	condition, err := filter.Parse("n > 5")
	if err != nil {
		log.Fatal(err)
	}
	files, err := t.Explain(ctx, table.ScanOptions{Filter: condition}, false)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(files[0])
	// Output:
	// columns: n
	// where:   n > 5
	// looks at: n
	// rows:    3000 of 3000
	// stripe 0: 3000 rows
	//   statistics       leaves 0 rows (of the stripe)
}

func ExampleTable_Verify() {
	ctx := context.Background()
	t, err := table.Open(ctx, "../shard/testdata/unknown/known.amudai.shard")
	if err != nil {
		log.Fatal(err)
	}
	defer t.Close()
	files, err := t.Verify(ctx, table.VerifyOptions{})
	if err != nil {
		log.Fatal(err)
	}
	if r := files[0]; r != nil && !r.OK() {
		fmt.Println(r.Problems[0])
	}
	// Output:
	// unsupported: encoding code 0x105 is not known (stripe 0/column "n"/DATA/block 0/values, offset 328, in ../shard/testdata/unknown/known.amudai.shard)
}

func ExampleDiff() {
	ctx := context.Background()
	old, err := table.Open(ctx, "../testdata/tour/sales-2025.csv")
	if err != nil {
		log.Fatal(err)
	}
	defer old.Close()
	both := sales(ctx)
	defer both.Close()
	c, err := table.Diff(ctx, old, both, table.DiffOptions{Key: "Order"})
	if err != nil {
		log.Fatal(err)
	}
	defer c.Close()
	for row, err := range c.Rows(ctx) {
		if err != nil {
			log.Fatal(err)
		}
		for _, i := range row.Columns {
			was, is := row.Old.Arrays[i].ValueStr(row.Old.Index), row.New.Arrays[i].ValueStr(row.New.Index)
			fmt.Println(row.New.Keys[0].ValueStr(row.New.Index), c.Columns().All[i].Name, was, is)
		}
	}
	fmt.Printf("%+v\n", c.Summary())
	// Output:
	// 1001 Total 1.234,50 1234.5
	// 1002 Total 89,90 89.9
	// 1003 Total 12,00 12.0
	// 1003 Paid N/A (null)
	// 1004 Total 310,25 310.25
	// {Changed:4 Removed:0 Added:3 Equal:0 DuplicateKeys:0}
}

func ExampleTable_Inspect() {
	ctx := context.Background()
	t, err := table.Open(ctx, "../shard/testdata/unknown/known.amudai.shard")
	if err != nil {
		log.Fatal(err)
	}
	defer t.Close()
	files, err := t.Inspect(ctx, table.InspectOptions{Detail: 2})
	if err != nil {
		log.Fatal(err)
	}
	for _, l := range files[0].Lists {
		if l.Name == "buffers" {
			fmt.Println(l.Columns[1:6], l.Rows[0][1:6])
		}
	}
	// Output:
	// [column buffer offset bytes map bytes] [n DATA 320 176 112]
}

func ExampleTable_Plan() {
	ctx := context.Background()
	t, err := table.Open(ctx, "../shard/testdata/unknown/known.amudai.shard")
	if err != nil {
		log.Fatal(err)
	}
	defer t.Close()
	condition, err := filter.Parse("n > 1")
	if err != nil {
		log.Fatal(err)
	}
	plan, err := t.Plan(ctx, table.ScanOptions{Filter: condition})
	if err != nil {
		log.Fatal(err)
	}
	for _, p := range plan.Parts {
		for _, s := range p.Explanation.Stripes {
			if s.Left() > 0 { // a reader with ScanOptions.Rows
				fmt.Println(table.RowRange{From: s.First, To: s.First + s.Rows}, s.Bytes)
			}
		}
	}
	// Output:
	// {0 3000} 176
}
