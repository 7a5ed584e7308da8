package filter_test

import (
	"fmt"
	"strings"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/amudai/amudai-go/filter"
)

var flights = arrow.NewSchema([]arrow.Field{
	{Name: "origin", Type: arrow.BinaryTypes.String},
	{Name: "delay", Type: arrow.PrimitiveTypes.Int16, Nullable: true},
}, nil)

func Example() {
	batch, _, err := array.RecordFromJSON(memory.DefaultAllocator, flights, strings.NewReader(`[
		{"origin": "SFO", "delay": 310}, {"origin": "LAX", "delay": 400}, {"origin": "SFO"}, {"origin": "SFO", "delay": 900}]`))
	if err != nil {
		fmt.Println(err)
		return
	}
	defer batch.Release()
	e, err := filter.Parse("origin = 'SFO' and delay > 300.5")
	if err != nil {
		fmt.Println(err)
		return
	}
	bound, err := filter.Bind(e, flights)
	if err != nil {
		fmt.Println(err)
		return
	}
	bits, err := bound.Select(batch)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(bound.Columns())
	for row := range int(batch.NumRows()) {
		fmt.Println(row, bits[row/8]>>(row%8)&1 == 1)
	}
	// Output:
	// [origin delay]
	// 0 true
	// 1 false
	// 2 false
	// 3 true
}

func ExampleParse() {
	_, err := filter.Parse("origin = 'SFO' and delay > ")
	fmt.Println(err)
	e, _ := filter.Parse(`(delay<0) OR NOT("US Gross" in (1,2))`)
	fmt.Println(e)
	// Output:
	// expected a column or a value, found the end, at character 28
	// delay < 0 or "US Gross" not in (1, 2)
}

func ExampleAnd() {
	e := filter.And(
		filter.Eq(filter.Col("origin"), "SFO"),
		filter.Not(filter.Between(filter.Col("delay"), -10, 300)),
	)
	fmt.Println(e)
	// Output: origin = 'SFO' and delay not between -10 and 300
}

func ExampleBind() {
	_, err := filter.Bind(filter.Gt(filter.Col("origin"), 300), flights)
	fmt.Println(err)
	bound, err := filter.Bind(filter.Lt(filter.Col("delay"), 1.5), flights)
	fmt.Println(bound.Columns(), err)
	// Output:
	// origin: 300 is no value of type utf8: write it in quotes: 'text' or x'00ff'
	// [delay] <nil>
}
