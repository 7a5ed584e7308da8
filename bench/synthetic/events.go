package synthetic

import (
	"fmt"
	"math"
	"math/rand/v2"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/amudai/amudai-go/internal/bench/suite"
)

// nanoCollections are collections of particles in events like those of CMS NanoAOD: how many
// particles an event has on average, and how many quantities a particle.
var nanoCollections = []struct {
	name   string
	mean   float64
	fields int
}{
	{"Jet", 5, 45}, {"FatJet", 1, 60}, {"Muon", 2, 60}, {"Electron", 2, 70}, {"Tau", 1, 60}, {"GenPart", 30, 10},
	{"SV", 2, 25}, {"Photon", 1, 50}, {"TrigObj", 8, 12}, {"GenJet", 6, 9}, {"SoftActivity", 4, 5}, {"CorrT1", 10, 6},
}

const (
	nanoFields    = 1000
	nanoBatchRows = 8192
)

// Events makes events of 1,000 fields. A field of a collection is a list of floats, integers or
// booleans, and all fields of one collection have the same lengths.
func Events(d *suite.Dataset, events int) {
	var fields []arrow.Field
	for _, c := range nanoCollections {
		for k := range c.fields {
			item := arrow.Field{Name: "item", Type: nanoType(k)}
			fields = append(fields, arrow.Field{Name: fmt.Sprintf("%s_f%d", c.name, k), Type: arrow.ListOfField(item)})
		}
	}
	scalars := nanoFields - len(fields)
	for k := range scalars {
		fields = append(fields, arrow.Field{Name: fmt.Sprintf("s_f%d", k), Type: nanoType(k)})
	}
	d.Schema = arrow.NewSchema(fields, nil)
	rnd := rand.New(rand.NewPCG(7, 11))
	for ; events > 0; events -= nanoBatchRows {
		n := min(events, nanoBatchRows)
		var columns []arrow.Array
		for _, c := range nanoCollections {
			offsets := make([]int32, n+1)
			for i := range n {
				offsets[i+1] = offsets[i] + poisson(rnd, c.mean)
			}
			for k := range c.fields {
				items := nanoValues(rnd, k, int(offsets[n]))
				data := array.NewData(fields[len(columns)].Type, n, []*memory.Buffer{nil, memory.NewBufferBytes(arrow.Int32Traits.CastToBytes(offsets))},
					[]arrow.ArrayData{items.Data()}, 0, 0)
				columns = append(columns, array.MakeFromData(data))
			}
		}
		for k := range scalars {
			columns = append(columns, nanoValues(rnd, k, n))
		}
		d.Batches = append(d.Batches, array.NewRecordBatch(d.Schema, columns, int64(n)))
	}
}

// poisson is a number with a Poisson distribution.
func poisson(rnd *rand.Rand, mean float64) int32 {
	limit, n := math.Exp(-mean), int32(0)
	for p := rnd.Float64(); p > limit; p *= rnd.Float64() {
		n++
	}
	return n
}

func nanoType(k int) arrow.DataType {
	switch {
	case k%7 == 6:
		return arrow.FixedWidthTypes.Boolean
	case k%4 == 3:
		return arrow.PrimitiveTypes.Int32
	}
	return arrow.PrimitiveTypes.Float32
}

// nanoValues are n values of the type of field k: flags that are mostly set, small integers, and
// floats of 10 bits of mantissa, as files for analysis have them.
func nanoValues(rnd *rand.Rand, k, n int) arrow.Array {
	b := array.NewBuilder(memory.DefaultAllocator, nanoType(k))
	defer b.Release()
	b.Reserve(n)
	for range n {
		switch b := b.(type) {
		case *array.BooleanBuilder:
			b.Append(rnd.IntN(10) > 2)
		case *array.Int32Builder:
			b.Append(rnd.Int32N(45) - 5)
		case *array.Float32Builder:
			b.Append(math.Float32frombits(math.Float32bits(float32(30*rnd.ExpFloat64())) &^ 0x1FFF))
		}
	}
	return b.NewArray()
}
