package predicate_test

import (
	"fmt"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/amudai/amudai-go/internal/engine/predicate"
)

func ExampleBound_Prune() {
	bound, err := predicate.BindText("delay > 300 or origin starts with 'S'", arrow.NewSchema([]arrow.Field{
		{Name: "origin", Type: arrow.BinaryTypes.String, Nullable: true}, {Name: "delay", Type: arrow.PrimitiveTypes.Int16, Nullable: true},
	}, nil))
	if err != nil {
		fmt.Println(err)
		return
	}
	// Facts about some rows: the columns are in the order of bound.Columns().
	delay := predicate.Facts{Min: predicate.IntLimit(-20), Max: predicate.IntLimit(200)}
	origin := predicate.Facts{Min: predicate.BytesLimit([]byte("ABE")), Max: predicate.BytesLimit([]byte("MSY"))}
	fmt.Println(bound.Prune([]predicate.Facts{delay, origin}))
	origin.Max = predicate.BytesLimit([]byte("SFO"))
	fmt.Println(bound.Prune([]predicate.Facts{delay, origin}))
	// Output:
	// none
	// some
}
