package columns

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/zeebo/xxh3"

	"github.com/amudai/amudai-go/encoding"
	"github.com/amudai/amudai-go/internal/format/arrowmap"
	"github.com/amudai/amudai-go/internal/format/edition"
	"github.com/amudai/amudai-go/internal/format/schema"
	"github.com/amudai/amudai-go/shard/internal/shardfile"
	"github.com/amudai/amudai-go/shard/internal/shardwriter"
	"github.com/amudai/amudai-go/shard/internal/stripe/write"
	"github.com/amudai/amudai-go/storage"
)

// Writer makes a shard of one stripe. It is used by one goroutine.
type Writer struct {
	Build *array.RecordBuilder // rows that Flush gives to the stripe
	Rows  int64                // in the stripe

	message []byte
	stripe  *write.Writer
	hash    xxh3.Hasher // of all rows
}

// contentProperty is the property of a shard with the hash of its rows, as 16 hexadecimal digits.
const contentProperty = "content"

// shardLocation is a location for messages: the artifact has none yet.
const shardLocation = "mem://index"

// stagedBytes is the memory for encoded values of a shard, beyond which they are in temporary files.
const stagedBytes = 4 << 20

// NewWriter returns a writer of columns. What is encoded goes to temporary files in a folder if it is much.
func NewWriter(s *arrow.Schema, tempDir string) (*Writer, error) {
	message, columns, err := columnsOf(s)
	if err != nil {
		return nil, err
	}
	w, err := write.NewWriter(columns, write.Options{
		Encoding: encoding.Options{Profile: encoding.MinimalCompression}, Parallelism: 1,
		Budget: storage.NewBudget(stagedBytes), TempDir: tempDir,
	})
	if err != nil {
		return nil, err
	}
	return &Writer{message: message, Build: array.NewRecordBuilder(memory.DefaultAllocator, s), stripe: w}, nil
}

// Flush gives the rows that were built to the stripe.
func (w *Writer) Flush(ctx context.Context) error {
	batch := w.Build.NewRecordBatch()
	defer batch.Release()
	w.Rows += batch.NumRows()
	for _, c := range batch.Columns() {
		w.hashData(c.Data())
	}
	return w.stripe.Write(ctx, batch.Columns(), int(batch.NumRows()))
}

// hashData hashes the buffers of an array.
func (w *Writer) hashData(d arrow.ArrayData) {
	for _, b := range d.Buffers() {
		if b != nil {
			_, _ = w.hash.Write(b.Bytes()) // never fails
		}
	}
	for _, child := range d.Children() {
		w.hashData(child)
	}
}

// Publish writes the shard. Equal rows make equal bytes.
func (w *Writer) Publish(ctx context.Context, out io.Writer) error {
	if err := w.Flush(ctx); err != nil {
		return err
	}
	f, err := w.stripe.Finish(ctx)
	if err != nil {
		return err
	}
	defer f.Release()
	file, err := shardwriter.Create(ctx, shardLocation, w.message, shardwriter.Options{
		Store: storage.ToWriter(shardLocation, out), CreationTime: shardTime, Edition: edition.Reference,
		Properties: []shardfile.Property{{Name: contentProperty, Value: fmt.Sprintf("%016x", w.hash.Sum64())}},
	})
	if err != nil {
		return err
	}
	if err := file.AppendStripe(ctx, f, shardwriter.StripeOptions{}); err != nil {
		return errors.Join(err, file.Abort(context.WithoutCancel(ctx)))
	}
	return file.Close(ctx)
}

// Close releases memory and temporary files.
func (w *Writer) Close() {
	w.Build.Release()
	w.stripe.Close()
}

// shardTime is when the shards of an index were made.
var shardTime = time.Unix(0, 0).UTC()

// columnsOf are the columns of a shard with a schema, and its stored form. Items have the name that the reference gives them.
func columnsOf(s *arrow.Schema) (message []byte, columns []arrowmap.Column, err error) {
	fields, columns, err := arrowmap.FromArrow(s, arrowmap.Options{})
	if err != nil {
		return nil, nil, err
	}
	nameItems(fields)
	message, err = schema.Build(fields)
	return message, columns, err
}

func nameItems(fields []schema.Field) {
	for i := range fields {
		f := &fields[i]
		if f.Type == schema.List {
			f.Children[0].Name = "item"
		}
		nameItems(f.Children)
	}
}
