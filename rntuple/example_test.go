package rntuple_test

import (
	"context"
	"fmt"
	"log"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/amudai/amudai-go/filter"
	"github.com/amudai/amudai-go/rntuple"
	"github.com/amudai/amudai-go/table"
)

// An ntuple of muons is written, events of two muons are read back, and the invariant masses of pairs of
// opposite charge make a histogram: that of a Z boson, at 91 GeV, over a background.
func Example() {
	ctx := context.Background()
	dir, err := os.MkdirTemp("", "muons")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	location := filepath.Join(dir, "muons.root")
	if err := writeMuons(ctx, location); err != nil {
		log.Fatal(err)
	}

	events, err := table.Open(ctx, location+":Events")
	if err != nil {
		log.Fatal(err)
	}
	defer events.Close()
	pairs, err := filter.Parse("nMuon = 2")
	if err != nil {
		log.Fatal(err)
	}
	var bins [12]int
	columns := []string{"pt", "eta", "phi", "charge"}
	for batch, err := range events.Scan(ctx, table.ScanOptions{Columns: columns, Filter: pairs}) {
		if err != nil {
			log.Fatal(err)
		}
		pt, eta, phi, charge := floats(batch.Column(0)), floats(batch.Column(1)), floats(batch.Column(2)), floats(batch.Column(3))
		for i := 0; i < len(pt); i += 2 {
			if charge[i] == charge[i+1] {
				continue
			}
			mass := math.Sqrt(2 * float64(pt[i]*pt[i+1]) * (math.Cosh(float64(eta[i]-eta[i+1])) - math.Cos(float64(phi[i]-phi[i+1]))))
			if bin := int(mass / 10); bin < len(bins) {
				bins[bin]++
			}
		}
	}
	for i, count := range bins {
		fmt.Println(strings.TrimRight(fmt.Sprintf("%3d–%3d GeV %s", 10*i, 10*i+10, strings.Repeat("#", count/10)), " "))
	}
	// Output:
	//   0– 10 GeV #
	//  10– 20 GeV ####
	//  20– 30 GeV ####
	//  30– 40 GeV ####
	//  40– 50 GeV ###
	//  50– 60 GeV ###
	//  60– 70 GeV #
	//  70– 80 GeV #
	//  80– 90 GeV #################
	//  90–100 GeV #################################
	// 100–110 GeV
	// 110–120 GeV
}

// floats are the items of all lists of a batch, which no list skips.
func floats(a arrow.Array) []float32 {
	lists := a.(*array.List)
	from, _ := lists.ValueOffsets(0)
	_, to := lists.ValueOffsets(lists.Len() - 1)
	return lists.ListValues().(*array.Float32).Float32Values()[from:to]
}

// writeMuons writes events with up to three muons.
func writeMuons(ctx context.Context, location string) error {
	vector := arrow.ListOfNonNullable(arrow.PrimitiveTypes.Float32)
	schema := arrow.NewSchema([]arrow.Field{
		{Name: "nMuon", Type: arrow.PrimitiveTypes.Uint32},
		{Name: "pt", Type: vector}, {Name: "eta", Type: vector}, {Name: "phi", Type: vector}, {Name: "charge", Type: vector},
	}, nil)
	w, err := rntuple.Create(ctx, location, schema, rntuple.WriterOptions{Name: "Events", Description: "muons of simulated collisions"})
	if err != nil {
		return err
	}
	defer w.Abort(context.WithoutCancel(ctx))

	b := array.NewRecordBuilder(memory.DefaultAllocator, schema)
	defer b.Release()
	r := rand.New(rand.NewPCG(1, 2))
	for range 4000 {
		muons := r.IntN(4)
		b.Field(0).(*array.Uint32Builder).Append(uint32(muons))
		for i := range 4 {
			b.Field(1 + i).(*array.ListBuilder).Append(true)
		}
		add := func(pt, eta, phi, charge float64) {
			for i, v := range []float64{pt, eta, phi, charge} {
				b.Field(1 + i).(*array.ListBuilder).ValueBuilder().(*array.Float32Builder).Append(float32(v))
			}
		}
		phi, charge := r.Float64()*2*math.Pi, float64(1-2*r.IntN(2))
		if muons == 2 && r.IntN(2) == 0 { // of the decay of a boson at rest
			mass := 91.2 + 3*r.NormFloat64()
			eta := r.NormFloat64()
			add(mass/2/math.Cosh(eta), eta, phi, charge)
			add(mass/2/math.Cosh(eta), -eta, phi+math.Pi, -charge)
			continue
		}
		for range muons {
			add(5+20*r.ExpFloat64(), r.NormFloat64(), r.Float64()*2*math.Pi, float64(1-2*r.IntN(2)))
		}
	}
	batch := b.NewRecordBatch()
	defer batch.Release()
	if err := w.Write(ctx, batch); err != nil {
		return err
	}
	return w.Close(ctx)
}
