// Package provider has the common parts of formats of tables. A format reads its bytes into Arrow record batches, and
// writes batches.
//
// A [Source] returns batches until none is left. A [Sink] takes batches, and publishes its output when it is closed. A
// [Format] opens sources and creates sinks. Formats are packages of their own: amudai, text and parquet
// beside this one, rntuple, blockpack and blockpack/otlp. A program links only those that it imports. Each registers itself, so that
// [Formats.ByName], [Formats.ByPath] and [Formats.Sniff] find it.
//
// # Values never change silently
//
// Text has no types, so types are inferred from a bounded sample (see [TextOptions]). Values without an exact typed
// form are kept as text, with a notice: leading zeros ("00501"), columns that mix types, integers beyond 64 bits,
// numbers with more digits than a float64 holds, and in CSV those that may be versions ("1.10" beside "1.9") or names ("1E5"). Numbers of
// CSV that lose zeros at their end ("5.00") give a notice; in JSON both are the same number. A value after the sample that does not fit its column is an error
// ([ValueError]) with line and column, never a null.
//
// # Text forms
//
// CSV and JSON write a value in the same way, and read it back:
//
//	integers         decimal digits
//	floats           shortest text that reads back the same, always with "." or "e"; NaN, Inf, -Inf (strings in JSON)
//	decimals         digits with exactly the scale of the type; a string in JSON
//	dates            2012-12-31; years outside 0000–9999 have a sign: +12012-01-01
//	times            15:04:05.123456
//	timestamps       2012-12-31T15:04:05.123; those with a zone are written in UTC, with Z
//	durations        ISO 8601: PT1H2M3.5S; intervals P1M2DT3S, each part with its own sign
//	binary           base64 (standard alphabet, padded)
//	uuid             00112233-4455-6677-8899-aabbccddeeff
//	lists, structs   JSON: [1,2] and {"a":1}, also inside a CSV cell
//	maps             JSON: [{"key":"a","value":1}], which keeps order, duplicates and keys of any type
//	json             the JSON text itself
//
// Fractions of a second have as many digits as the value needs, in groups of
// three.
package provider

import (
	"context"
	"io"
	"iter"
	"sync"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/amudai/amudai-go/internal/base/fault"
	"github.com/amudai/amudai-go/storage"
)

// Source returns the rows of one input. It is used by one goroutine.
type Source interface {
	// Schema is the schema of every batch.
	Schema() *arrow.Schema
	// Next returns the next batch, which the caller releases. At the end there is neither batch nor error: no error
	// stands for the end, io.EOF least of all, because the reads below may fail with any. After an error only Close may be called.
	Next(ctx context.Context) (arrow.RecordBatch, error)
	// Rows is the number of rows in the whole input. ok is false if it is unknown. Formats that do not record it
	// return an estimate, which improves while they read.
	Rows() (n int64, ok bool)
	// Close releases the source and closes its input.
	Close() error
}

// Batches are the batches of a source, each valid until the next step. An error ends the loop. The source stays the caller's.
func Batches(ctx context.Context, src Source) iter.Seq2[arrow.RecordBatch, error] {
	return func(yield func(arrow.RecordBatch, error) bool) {
		for more := true; more; {
			b, err := src.Next(ctx)
			if err != nil {
				yield(nil, err)
				return
			}
			if b == nil {
				return
			}
			more = yield(b, nil)
			b.Release()
		}
	}
}

// Numbered is a [Source] that knows the positions of its rows in the input. Sources of formats that filter are Numbered.
type Numbered interface {
	Source
	// Ranges are the positions of the rows of the last batch: ascending ranges, which may have further rows behind these. They are nil if they
	// are not known.
	Ranges() []RowRange
}

// Hiding is a [Source] of an input that may hide rows, such as deleted ones. The others keep their positions, so that there are more of these
// than rows.
type Hiding interface {
	Source
	Positions() int64 // if the number of rows is known
}

// PositionsOf is the number of positions of the rows of a source that knows the number of its rows.
func PositionsOf(s Source) (n int64, known bool) {
	n, known = s.Rows()
	if h, ok := s.(Hiding); ok {
		n = h.Positions()
	}
	return n, known
}

// RangesOf are the positions of the rows of the last batch of a source, nil if it does not know them.
func RangesOf(s Source) []RowRange {
	if n, ok := s.(Numbered); ok {
		return n.Ranges()
	}
	return nil
}

// Grouped is a [Source] that knows which rows are stored together, such as the clusters of an RNTuple. A copy may
// keep these groups.
type Grouped interface {
	Source
	// Group is the index of the group of the last batch, or -1 if it is unknown. No batch has rows of several groups.
	Group() int
}

// Sampled is a [Source] whose types are inferred from a sample.
type Sampled interface {
	Source
	// NoValues reports whether the sample has only nulls in a column of the input, so that its type says nothing.
	NoValues(column int) bool
}

// StripeCutter is a [Sink] that stores rows in groups, too.
type StripeCutter interface {
	Sink
	// CutStripe ends the group, so that the next rows begin another one.
	CutStripe(ctx context.Context) error
}

// MessageSink is a [Sink] that takes rows as messages of OTLP, too.
type MessageSink interface {
	Sink
	// WriteMessage adds the rows of a message, and returns their number. It does not keep the message.
	WriteMessage(ctx context.Context, message []byte) (rows int64, err error)
}

// Sink writes rows. It is used by one goroutine. Either Close or Abort ends it. After either, Abort does nothing.
type Sink interface {
	// Write adds the rows of a batch, whose schema is that of Create. The batch remains the caller's.
	Write(ctx context.Context, batch arrow.RecordBatch) error
	// Close finishes the output and publishes it under its name. After an error nothing is published.
	Close(ctx context.Context) error
	// Abort drops the output, and releases memory and temporary files even if ctx has ended. ctx is passed on to
	// Output.Abort.
	Abort(ctx context.Context) error
}

// Input is the input of a [Source], which closes it.
type Input struct {
	Name   string      // for messages
	Reader io.Reader   // the bytes from the start
	At     io.ReaderAt // random access to the same bytes; nil for a pipe
	Size   int64       // bytes, or -1 if not known
	Closer io.Closer   // may be nil

	// Location is the location of these bytes in a store, for formats of several files. It
	// is empty for bytes that no store holds as they are, such as decompressed ones.
	Location string
	// Store is the store of Location. Nil means the registered one.
	Store storage.Store
	// Version is that of the bytes in the store, before they are decompressed. It is empty if the store has none.
	Version storage.Version

	// Table is the path of a table in these bytes, for formats that hold several. It may be
	// empty if there is only one.
	Table string

	// Opened is nil unless the input stays open for further questions, which then share what its format opens of it.
	Opened *Opened
}

// Opened is what a format opened of an input that stays open, so that it is parsed once. Several goroutines may use it.
type Opened struct {
	mu    sync.Mutex
	value io.Closer
	table string // the one of the input that the value is of
}

// OpenShared opens what a format needs of an input, and returns how to close it. Questions about an input that stays open share what the first of them
// opened, which [Opened.Close] closes; after an error the next one tries. Those about other tables of it, or in another format, open what they need.
func OpenShared[T io.Closer](in Input, open func() (T, error)) (value T, end func() error, err error) {
	if o := in.Opened; o != nil {
		o.mu.Lock()
		defer o.mu.Unlock()
		if value, ok := o.value.(T); ok && o.table == in.Table {
			return value, func() error { return nil }, nil
		}
		if value, err = open(); err == nil && o.value == nil {
			o.value, o.table = value, in.Table
			return value, func() error { return nil }, nil
		}
	} else {
		value, err = open()
	}
	if err != nil {
		return value, nil, err
	}
	return value, value.Close, nil
}

// Close closes what is shared. No question may be open.
func (o *Opened) Close() error {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.value == nil {
		return nil
	}
	return o.value.Close()
}

// whole returns the input with an error in place of an end before its size. Otherwise a file that becomes shorter would have fewer rows.
func (in Input) whole() Input {
	if in.Reader != nil {
		in.Reader = &wholeReader{in.Reader, 0, in.Size}
	}
	if in.At != nil {
		in.At = wholeAt{in.At, in.Size}
	}
	return in
}

type wholeReader struct {
	r        io.Reader
	at, size int64
}

func (w *wholeReader) Read(p []byte) (int, error) {
	n, err := w.r.Read(p)
	w.at += int64(n)
	return n, endAt(err, w.at, w.size)
}

type wholeAt struct {
	r    io.ReaderAt
	size int64
}

func (w wholeAt) ReadAt(p []byte, off int64) (int, error) {
	n, err := w.r.ReadAt(p, off)
	return n, endAt(err, off+int64(n), w.size)
}

// endAt is the error of a read that ends at an offset of an input: io.EOF only at its end.
func endAt(err error, at, size int64) error {
	switch {
	case err != io.EOF:
		return fault.NoEOF(err)
	case at < size:
		return storage.Shrunk(at, size)
	}
	return err
}

// Close closes the input.
func (in Input) Close() error {
	if in.Closer == nil {
		return nil
	}
	return in.Closer.Close()
}

// Output receives the bytes of a [Sink]. They stay invisible until Publish. A storage.Writer is an Output.
// storage.IOWriter makes it an io.Writer for encoders without contexts.
type Output interface {
	// Write appends all of p, or fails. It does not keep p.
	Write(ctx context.Context, p []byte) error
	// Publish makes the bytes visible in one step.
	Publish(ctx context.Context) error
	// Abort drops the bytes. After Publish it does nothing. To clean up after a cancelled
	// call, pass context.WithoutCancel(ctx).
	Abort(ctx context.Context) error
}
