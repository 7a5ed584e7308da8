package stripe_test

import (
	"errors"
	"fmt"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/amudai/amudai-go/stripe"
)

func ExamplePhysical() {
	mem := memory.DefaultAllocator
	b := array.NewDictionaryBuilder(mem, &arrow.DictionaryType{IndexType: arrow.PrimitiveTypes.Int8, ValueType: arrow.BinaryTypes.String}).(*array.BinaryDictionaryBuilder)
	for _, city := range []string{"Oslo", "Rome", "Oslo"} {
		if err := b.AppendString(city); err != nil {
			fmt.Println(err)
		}
	}
	cities := b.NewArray()
	defer cities.Release()
	stored, err := stripe.Physical(mem, cities)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer stored.Release()
	fmt.Println(stored.DataType(), stored)
	// Output: utf8 ["Oslo" "Rome" "Oslo"]
}

func ExampleValueError() {
	err := fmt.Errorf("column price: %w", &stripe.ValueError{Row: 7, Err: errors.New("1e400 is no decimal")})
	var value *stripe.ValueError
	if errors.As(err, &value) {
		fmt.Println("row", value.Row)
	}
	// Output: row 7
}
