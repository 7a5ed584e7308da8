package main

import (
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
)

// item is a row like those of TPC-H lineitem.
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
	Shipped       time.Time `arrow:"l_shipdate,date32" parquet:"l_shipdate,date"`
	Committed     time.Time `arrow:"l_commitdate,date32" parquet:"l_commitdate,date"`
	Received      time.Time `arrow:"l_receiptdate,date32" parquet:"l_receiptdate,date"`
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

// BenchmarkStructs writes and reads Go structs by shard.WriterOf and shard.RowsOf, and by parquet-go's generic writer
// and reader. The time is CPU time, with garbage collection.
//
//	taskset -c 0 go test ./internal/bench -run - -bench Structs -benchtime 5x
func BenchmarkStructs(b *testing.B) {
	rows := makeItems(1_000_000)
	for _, c := range []struct {
		name  string
		write func(path string, rows []item) error
		read  func(path string) (n int, err error)
	}{
		{"amudai", writeAmudai(b), readAmudai(b)},
		{"parquet-go", writeParquetGo, readParquetGo},
	} {
		path := filepath.Join(b.TempDir(), "items")
		b.Run("write/"+c.name, func(b *testing.B) {
			perRow(b, len(rows), func() error { return c.write(path, rows) })
			size, err := os.Stat(path)
			require.NoError(b, err)
			b.ReportMetric(float64(size.Size())/float64(len(rows)), "bytes/row")
		})
		b.Run("read/"+c.name, func(b *testing.B) {
			perRow(b, len(rows), func() error {
				n, err := c.read(path)
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

func writeAmudai(b *testing.B) func(string, []item) error {
	return func(path string, rows []item) error {
		w, err := shard.CreateOf[item](b.Context(), path, shard.WriterOptions{Overwrite: true})
		if err != nil {
			return err
		}
		if err := w.Write(b.Context(), rows...); err != nil {
			return errors.Join(err, w.Abort(b.Context()))
		}
		return w.Close(b.Context())
	}
}

func readAmudai(b *testing.B) func(string) (int, error) {
	return func(path string) (n int, err error) {
		s, err := shard.Open(b.Context(), path, shard.OpenOptions{})
		if err != nil {
			return 0, err
		}
		defer s.Close()
		for row, err := range shard.RowsOf[item](b.Context(), s, shard.ScanOptions{}) {
			if err != nil {
				return n, err
			}
			if row.Line > 0 {
				n++
			}
		}
		return n, nil
	}
}

func writeParquetGo(path string, rows []item) error {
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	defer f.Close()
	w := pgo.NewGenericWriter[item](f, pgo.Compression(&zstd.Codec{Level: zstd.DefaultLevel}))
	if _, err := w.Write(rows); err != nil {
		return err
	}
	return w.Close()
}

func readParquetGo(path string) (n int, err error) {
	f, err := os.Open(path)
	if err != nil {
		return 0, err
	}
	defer f.Close()
	r := pgo.NewGenericReader[item](f)
	defer r.Close()
	for rows := make([]item, 1024); err == nil; {
		var k int
		k, err = r.Read(rows)
		for i := range rows[:k] {
			if rows[i].Line > 0 {
				n++
			}
		}
	}
	if errors.Is(err, io.EOF) {
		err = nil
	}
	return n, err
}
