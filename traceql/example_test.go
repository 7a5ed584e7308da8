package traceql_test

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/amudai/amudai-go/traceql"
)

func ExampleSearch() {
	source := tableOfSpans(&testing.T{}, 100, shop()) // or traceql.TableSource(ctx, t) of a table t
	q, err := traceql.Parse(`{ resource.service.name = "cart" } | select(span.db.rows) | count() > 2`)
	if err != nil {
		fmt.Println(err)
		return
	}
	for trace, err := range traceql.Search(context.Background(), q, []traceql.Source{source}, traceql.Options{Limit: 20}) {
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Printf("%x: %s %s, %v\n", trace.ID, trace.RootService, trace.RootName, trace.Duration)
		for _, set := range trace.Sets {
			for _, a := range set.Attributes {
				fmt.Printf("  %s = %s\n", a.Name, a.Value)
			}
			for _, s := range set.Spans {
				fmt.Printf("  %s %v %v\n", s.Name, s.Duration, s.Attributes)
			}
		}
	}
	// Output:
	// 00000000000000000000000000000001: frontend GET /cart, 100ms
	//   count() = 3
	//   load 68ms [{resource.service.name "cart"}]
	//   SELECT 20ms [{resource.service.name "cart"} {span.db.rows 3}]
	//   SELECT 34ms [{resource.service.name "cart"} {span.db.rows 0}]
}

func ExampleParse() {
	_, err := traceql.Parse(`{ resource.service.name = "cart" && naem = "load" }`)
	var e *traceql.Error
	if errors.As(err, &e) {
		fmt.Println(e.Pos, e.Message)
	}
	q, err := traceql.Parse("{name=`load`}|count()>1")
	fmt.Println(q, err)
	// Output:
	// 36 there is no intrinsic naem: is name meant?
	// { name = "load" } | count() > 1 <nil>
}
