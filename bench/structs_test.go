package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"
	"time"

	pgo "github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/compress/zstd"
	"github.com/stretchr/testify/require"

	"github.com/amudai/amudai-go/internal/bench/measure"
	"github.com/amudai/amudai-go/shard"
	"github.com/amudai/amudai-go/table"
)

// item is a row like those of TPC-H lineitem. Its days are timestamps, because parquet-go writes wrong dates from a time.Time.
type item struct {
	Order         int64     `arrow:"l_orderkey" parquet:"l_orderkey"`
	Part          int64     `arrow:"l_partkey" parquet:"l_partkey"`
	Supplier      int64     `arrow:"l_suppkey" parquet:"l_suppkey"`
	Line          int32     `arrow:"l_linenumber" parquet:"l_linenumber"`
	Quantity      float64   `arrow:"l_quantity" parquet:"l_quantity"`
	ExtendedPrice float64   `arrow:"l_extendedprice" parquet:"l_extendedprice"`
	Discount      float64   `arrow:"l_discount" parquet:"l_discount"`
	Tax           float64   `arrow:"l_tax" parquet:"l_tax"`
	ReturnFlag    string    `arrow:"l_returnflag" parquet:"l_returnflag,dict"`
	LineStatus    string    `arrow:"l_linestatus" parquet:"l_linestatus,dict"`
	Shipped       time.Time `arrow:"l_shipdate,timestamp(ms)" parquet:"l_shipdate,timestamp"`
	Committed     time.Time `arrow:"l_commitdate,timestamp(ms)" parquet:"l_commitdate,timestamp"`
	Received      time.Time `arrow:"l_receiptdate,timestamp(ms)" parquet:"l_receiptdate,timestamp"`
	Instruction   string    `arrow:"l_shipinstruct" parquet:"l_shipinstruct,dict"`
	Mode          string    `arrow:"l_shipmode" parquet:"l_shipmode,dict"`
	Comment       string    `arrow:"l_comment" parquet:"l_comment"`
}

func makeItems(n int) []item {
	rnd := rand.New(rand.NewPCG(3, 5))
	pick := func(words ...string) string { return words[rnd.IntN(len(words))] }
	word := func() string {
		return pick("carefully", "quickly", "final", "deposits", "requests", "packages", "above", "the", "slyly", "regular", "ironic", "accounts")
	}
	rows := make([]item, n)
	for i := range rows {
		shipped := time.Unix(int64(8036+rnd.IntN(2500))*86400, 0).UTC()
		quantity, price := float64(1+rnd.IntN(50)), float64(90000+rnd.IntN(120000))/100
		rows[i] = item{
			Order: int64(i / 4 * 8), Part: rnd.Int64N(200_000), Supplier: rnd.Int64N(10_000), Line: int32(i%4 + 1),
			Quantity: quantity, ExtendedPrice: quantity * price, Discount: float64(rnd.IntN(11)) / 100, Tax: float64(rnd.IntN(9)) / 100,
			ReturnFlag: pick("A", "N", "R"), LineStatus: pick("F", "O"),
			Shipped: shipped, Committed: shipped.AddDate(0, 0, rnd.IntN(60)-30), Received: shipped.AddDate(0, 0, 1+rnd.IntN(30)),
			Instruction: pick("DELIVER IN PERSON", "COLLECT COD", "NONE", "TAKE BACK RETURN"),
			Mode:        pick("AIR", "FOB", "MAIL", "RAIL", "REG AIR", "SHIP", "TRUCK"),
			Comment:     fmt.Sprintf("%s %s %s %s", word(), word(), word(), word()),
		}
	}
	return rows
}

// order is a row with nested columns and nulls.
type order struct {
	ID       int64             `arrow:"id" parquet:"id"`
	Note     *string           `arrow:"note" parquet:"note"`
	Discount *float64          `arrow:"discount" parquet:"discount"`
	Tags     []string          `arrow:"tags" parquet:"tags"`
	Weights  []float64         `arrow:"weights" parquet:"weights"`
	Parts    []part            `arrow:"parts" parquet:"parts"`
	Labels   map[string]string `arrow:"labels" parquet:"labels"`
}

type part struct {
	Name  string  `arrow:"name" parquet:"name"`
	Price float64 `arrow:"price" parquet:"price"`
	Count int32   `arrow:"count" parquet:"count"`
}

func makeOrders(n int) []order {
	items := makeItems(n)
	rows := make([]order, n)
	for i, item := range items {
		rows[i] = order{ID: int64(i), Labels: map[string]string{"mode": item.Mode, "flag": item.ReturnFlag}}
		if i%3 == 0 {
			rows[i].Note, rows[i].Discount = &items[i].Comment, &items[i].Discount
		}
		for k := range 1 + i%5 {
			near := items[(i+k)%n]
			rows[i].Tags = append(rows[i].Tags, near.Mode)
			rows[i].Weights = append(rows[i].Weights, near.Quantity)
			rows[i].Parts = append(rows[i].Parts, part{near.Comment, near.ExtendedPrice, near.Line})
		}
	}
	return rows
}

// BenchmarkStructs writes and reads Go structs by shard.WriterOf and table.RowsOf, and by parquet-go's generic writer
// and reader. The time is CPU time, with garbage collection.
//
//	taskset -c 0 go test -C bench . -run - -bench Structs -benchtime 5x
func BenchmarkStructs(b *testing.B) {
	b.Run("items", func(b *testing.B) { benchStructs(b, makeItems(1_000_000)) })
	b.Run("orders", func(b *testing.B) { benchStructs(b, makeOrders(200_000)) })
}

func benchStructs[T any](b *testing.B, rows []T) {
	for _, c := range contendersOf[T]() {
		path := filepath.Join(b.TempDir(), "rows")
		b.Run("write/"+c.name, func(b *testing.B) {
			perRow(b, len(rows), func() error { return c.write(b.Context(), path, rows) })
			size, err := os.Stat(path)
			require.NoError(b, err)
			b.ReportMetric(float64(size.Size())/float64(len(rows)), "bytes/row")
		})
		b.Run("read/"+c.name, func(b *testing.B) {
			perRow(b, len(rows), func() error {
				n := 0
				err := c.read(b.Context(), path, func(T) { n++ })
				require.Equal(b, len(rows), n)
				return err
			})
		})
	}
}

// perRow reports rows per second of CPU time.
func perRow(b *testing.B, rows int, run func() error) {
	before := measure.CPU()
	b.ReportAllocs()
	for b.Loop() {
		require.NoError(b, run())
	}
	b.ReportMetric(float64(rows)*float64(b.N)/(measure.CPU()-before)/1e6, "Mrows/cpu-s")
}

// TestStructsAgree reads what the contenders of the benchmark wrote.
func TestStructsAgree(t *testing.T) {
	agree(t, makeItems(3000))
	agree(t, makeOrders(3000))
}

func agree[T any](t *testing.T, rows []T) {
	for _, c := range contendersOf[T]() {
		path := filepath.Join(t.TempDir(), "rows")
		require.NoError(t, c.write(t.Context(), path, rows))
		var got []T
		require.NoError(t, c.read(t.Context(), path, func(row T) { got = append(got, row) }))
		require.Len(t, got, len(rows), c.name)
		for i := range rows {
			require.Equal(t, rows[i], got[i], c.name)
		}
	}
}

// structContender writes and reads structs.
type structContender[T any] struct {
	name  string
	write func(ctx context.Context, path string, rows []T) error
	read  func(ctx context.Context, path string, each func(T)) error
}

func contendersOf[T any]() []structContender[T] {
	return []structContender[T]{{"amudai", writeAmudai[T], readAmudai[T]}, {"parquet-go", writeParquetGo[T], readParquetGo[T]}}
}

func writeAmudai[T any](ctx context.Context, path string, rows []T) error {
	w, err := shard.CreateOf[T](ctx, path, shard.WriterOptions{Overwrite: true})
	if err != nil {
		return err
	}
	if err := w.Write(ctx, rows...); err != nil {
		return errors.Join(err, w.Abort(ctx))
	}
	return w.Close(ctx)
}

func readAmudai[T any](ctx context.Context, path string, each func(T)) error {
	t, err := table.OpenWith(ctx, table.OpenOptions{Format: "shard"}, path)
	if err != nil {
		return err
	}
	defer t.Close()
	for row, err := range table.RowsOf[T](ctx, t, table.ScanOptions{}) {
		if err != nil {
			return err
		}
		each(row)
	}
	return nil
}

func writeParquetGo[T any](_ context.Context, path string, rows []T) error {
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	defer f.Close()
	w := pgo.NewGenericWriter[T](f, pgo.Compression(&zstd.Codec{Level: zstd.DefaultLevel}))
	if _, err := w.Write(rows); err != nil {
		return err
	}
	return w.Close()
}

func readParquetGo[T any](_ context.Context, path string, each func(T)) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	r := pgo.NewGenericReader[T](f)
	defer r.Close()
	for rows := make([]T, 1024); err == nil; {
		var n int
		clear(rows) // it reuses slices and maps of rows, which the caller may keep
		n, err = r.Read(rows)
		for i := range rows[:n] {
			each(rows[i])
		}
	}
	if errors.Is(err, io.EOF) {
		err = nil
	}
	return err
}
