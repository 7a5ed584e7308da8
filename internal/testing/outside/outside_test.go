// Package outside uses every importable package of the library from another module, as its users do.
package outside

import (
	"bytes"
	"context"
	"fmt"
	"net"
	"net/http"
	"path/filepath"
	"slices"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/amudai/amudai-go/blockpack"
	"github.com/amudai/amudai-go/blockpack/otlp"
	"github.com/amudai/amudai-go/blockpack/serve"
	"github.com/amudai/amudai-go/dictionary"
	"github.com/amudai/amudai-go/encoding"
	"github.com/amudai/amudai-go/encoding/bytestring"
	"github.com/amudai/amudai-go/encoding/numeric"
	"github.com/amudai/amudai-go/filter"
	"github.com/amudai/amudai-go/index/term"
	"github.com/amudai/amudai-go/rntuple"
	"github.com/amudai/amudai-go/sbbf"
	"github.com/amudai/amudai-go/shard"
	"github.com/amudai/amudai-go/storage"
	"github.com/amudai/amudai-go/storage/az"
	"github.com/amudai/amudai-go/storage/gs"
	httpstore "github.com/amudai/amudai-go/storage/http"
	"github.com/amudai/amudai-go/storage/s3"
	"github.com/amudai/amudai-go/storage/storetest"
	"github.com/amudai/amudai-go/storage/xrootd"
	"github.com/amudai/amudai-go/stripe"
	"github.com/amudai/amudai-go/table"
	_ "github.com/amudai/amudai-go/table/formats"
	"github.com/amudai/amudai-go/table/parquet"
	"github.com/amudai/amudai-go/table/provider"
	"github.com/amudai/amudai-go/table/text"
	"github.com/amudai/amudai-go/traceql"
)

// check ends the test on an error.
func check(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// equal ends the test unless two values are equal.
func equal[T comparable](t *testing.T, want, got T) {
	t.Helper()
	if want != got {
		t.Fatalf("%v, expected %v", got, want)
	}
}

// numbers is a batch of the numbers below 100, and their names.
func numbers() arrow.RecordBatch {
	s := arrow.NewSchema([]arrow.Field{{Name: "n", Type: arrow.PrimitiveTypes.Int64}, {Name: "name", Type: arrow.BinaryTypes.String}}, nil)
	b := array.NewRecordBuilder(memory.DefaultAllocator, s)
	defer b.Release()
	for i := range 100 {
		b.Field(0).(*array.Int64Builder).Append(int64(i))
		b.Field(1).(*array.StringBuilder).Append(fmt.Sprint("number ", i))
	}
	return b.NewRecordBatch()
}

// TestShard writes a shard, and reads it with a condition, by its own package and as a table.
func TestShard(t *testing.T) {
	ctx, location := t.Context(), filepath.Join(t.TempDir(), "numbers.shard")
	batch := numbers()
	defer batch.Release()
	w, err := shard.Create(ctx, location, batch.Schema(), shard.WriterOptions{})
	check(t, err)
	check(t, w.Write(ctx, batch))
	check(t, w.Close(ctx))

	where, err := filter.Parse("n >= 90")
	check(t, err)
	s, err := shard.Open(ctx, location, shard.OpenOptions{})
	check(t, err)
	defer s.Close()
	n, err := s.Count(ctx, where)
	check(t, err)
	equal(t, 10, n)

	tb, err := table.Open(ctx, location)
	check(t, err)
	defer tb.Close()
	n, err = tb.Count(ctx, table.ScanOptions{Filter: where})
	check(t, err)
	equal(t, 10, n)
	next := int64(90)
	for row, err := range table.RowsOf[struct {
		N int64 `arrow:"n"`
	}](ctx, tb, table.ScanOptions{Filter: where}) {
		check(t, err)
		equal(t, next, row.N)
		next++
	}
	equal(t, 100, next)

	source, err := traceql.TableSource(ctx, tb)
	check(t, err)
	query, err := traceql.Parse("{}")
	check(t, err)
	for _, err := range traceql.Search(ctx, query, []traceql.Source{source}, traceql.Options{}) {
		if err == nil {
			t.Fatal("a table of numbers has traces")
		}
	}
}

// TestFormats sends a batch through a file of each format that can be written.
func TestFormats(t *testing.T) {
	batch := numbers()
	defer batch.Release()
	arrows, err := provider.Registered().ByName("arrow")
	check(t, err)
	for name, f := range map[string]provider.Format{
		"t.shard": shard.New(shard.FormatOptions{}), "t.csv": text.CSV(text.CSVOptions{}), "t.jsonl": text.JSONLines(text.JSONOptions{}),
		"t.parquet": parquet.New(parquet.Options{}), "t.arrow": arrows, "t.root": rntuple.New(rntuple.FormatOptions{}),
	} {
		t.Run(f.Name, func(t *testing.T) {
			ctx, location := t.Context(), filepath.Join(t.TempDir(), name)
			write(ctx, t, f, location, batch)
			tb, err := table.Open(ctx, location)
			check(t, err)
			defer tb.Close()
			rows := int64(0)
			for b, err := range tb.Scan(ctx, table.ScanOptions{Columns: []string{"name"}}) {
				check(t, err)
				rows += b.NumRows()
			}
			equal(t, 100, rows)
		})
	}
	for _, f := range []provider.Format{
		text.Lines(text.LinesOptions{}), otlp.New(otlp.FormatOptions{}), otlp.NewTempo(otlp.FormatOptions{}), blockpack.New(blockpack.FormatOptions{}),
	} {
		if !slices.ContainsFunc(provider.Registered(), func(r provider.Format) bool { return r.Name == f.Name }) {
			t.Errorf("%s is not registered", f.Name)
		}
	}
}

// TestReceiver starts a receiver of traces, and sends it an empty message.
func TestReceiver(t *testing.T) {
	ctx, dir := t.Context(), t.TempDir()
	s, err := serve.Open(ctx, dir, serve.Options{})
	check(t, err)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	check(t, err)
	running, stop := context.WithCancel(ctx)
	done := make(chan error, 1)
	go func() { done <- s.Serve(running, l) }()
	answer, err := http.Post("http://"+l.Addr().String()+serve.Path, "application/x-protobuf", http.NoBody)
	check(t, err)
	check(t, answer.Body.Close())
	equal(t, http.StatusOK, answer.StatusCode)
	stop()
	<-done
	check(t, s.Close(ctx))
}

// TestStores makes each store, and runs the tests of stores on one.
func TestStores(t *testing.T) {
	for _, s := range []storage.Store{
		storage.Local{}, httpstore.New(httpstore.Options{}), s3.New(s3.Options{}), gs.New(gs.Options{}), az.New(az.Options{}), xrootd.New(xrootd.Options{}),
	} {
		if _, err := s.Open(t.Context(), filepath.Join(t.TempDir(), "nothing")); err == nil {
			t.Errorf("%T opens a file that is not there", s)
		}
	}
	storetest.TestStore(t, storage.NewMemory(), "/folder/")
}

// TestBlocks encodes numbers and texts as blocks, and decodes them.
func TestBlocks(t *testing.T) {
	values := make([]int64, 3000)
	for i := range values {
		values[i] = int64(i % 7)
	}
	data, err := numeric.NewEncoder[int64](encoding.Options{}).AppendBlock(nil, values, encoding.Bits{Len: len(values)})
	check(t, err)
	got := make([]int64, len(values))
	_, err = numeric.DecodeBlock(got, nil, 0, data, numeric.BlockOptions{Checksums: true}, new(numeric.Scratch))
	check(t, err)
	equal(t, true, slices.Equal(values, got))
	frame, err := encoding.ParseBlock(data, true)
	check(t, err)
	t.Log(numeric.Describe(frame.Values, numeric.Of[int64](), len(values)))

	texts := bytestring.Values{Data: []byte("onetwothree"), Offsets: []int64{0, 3, 6, 11}, N: 3}
	data, err = bytestring.NewEncoder(encoding.Options{}, 0).AppendBlock(nil, texts, encoding.Bits{Len: 3})
	check(t, err)
	b, err := bytestring.Parse(data, 3, 0, bytestring.BlockOptions{Checksums: true}, new(bytestring.Scratch))
	check(t, err)
	out, offsets := make([]byte, 11), make([]int64, 3)
	check(t, bytestring.Decode(b, out, offsets, 0))
	equal(t, "onetwothree", string(out))
}

// TestStructures builds a value dictionary, a Bloom filter, lists of rows and an index of terms, and asks them.
func TestStructures(t *testing.T) {
	ctx := t.Context()
	d := dictionary.NewBuilder(1, 0)
	red := d.Add([]byte("red"))
	equal(t, red, d.Add([]byte("red")))

	f := sbbf.NewBuilder(sbbf.Options{})
	f.AddHash(sbbf.Hash([]byte("red")))
	bloom, ok := sbbf.Open(sbbf.Algorithm, sbbf.Seed, f.Finish())
	equal(t, true, ok)
	equal(t, true, bloom.MayContain([]byte("red")))

	terms := term.NewBuilder(term.BuilderOptions{Tokenizers: []term.Tokenizer{term.Word}, Scores: true, Memory: 1 << 20, Spool: func() *storage.Spool {
		return storage.NewSpool(storage.NewBudget(0), "")
	}})
	for row, text := range []string{"a red house", "a green one", "red"} {
		check(t, terms.Add(0, uint32(row), []byte(text)))
	}
	var file bytes.Buffer
	check(t, term.Write(ctx, &file, term.Options{Rows: 3, Fields: 2, Scored: 1, Collation: term.CaseInsensitive}, terms))
	x, err := term.Open(ctx, storage.ByteRange{Reader: storage.FromBytes("terms", file.Bytes()), Size: int64(file.Len())}, 3)
	check(t, err)
	for e, err := range x.Find(ctx, []byte("red"), false) {
		check(t, err)
		equal(t, 2, e.Rows)
	}
	check(t, terms.Close())
}

// TestPhysical shows how a dictionary is stored.
func TestPhysical(t *testing.T) {
	b := array.NewDictionaryBuilder(memory.DefaultAllocator, &arrow.DictionaryType{IndexType: arrow.PrimitiveTypes.Int8, ValueType: arrow.BinaryTypes.String})
	defer b.Release()
	b.AppendNull()
	arr := b.NewArray()
	defer arr.Release()
	stored, err := stripe.Physical(memory.DefaultAllocator, arr)
	check(t, err)
	defer stored.Release()
	equal(t, arrow.STRING, stored.DataType().ID())
}

// write writes a batch to a file of a format.
func write(ctx context.Context, t *testing.T, f provider.Format, location string, batch arrow.RecordBatch) {
	out, err := storage.Local{}.Create(ctx, location, storage.CreateOptions{})
	check(t, err)
	sink, err := f.Create(ctx, out, batch.Schema(), provider.WriteOptions{})
	check(t, err)
	check(t, sink.Write(ctx, batch))
	check(t, sink.Close(ctx))
}
