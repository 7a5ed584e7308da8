// Package records has the common parts of formats of text: a window on a stream of records, types inferred from a
// sample, and sources that read records into a builder one by one.
package records

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"strings"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"

	"github.com/amudai/amudai-go/internal/text/charset"
	"github.com/amudai/amudai-go/table/provider"
)

// BatchBytes is the maximum input text of a batch.
const BatchBytes = 32 << 20

// Source is the part of a source of text that does not depend on the format.
type Source struct {
	In      provider.Input
	Options provider.ReadOptions
	Text    provider.TextOptions
	Out     *arrow.Schema // of the batches
	Builder *array.RecordBuilder
	// Encoding is that of the input. In.Reader is in UTF-8.
	Encoding charset.Encoding
	// Empty tells, by column of the input, whether the sample has only nulls there.
	Empty []bool

	temp    *provider.Spooled // the input, if it was a pipe and AllRows is set
	size    int64             // bytes of the input, if AllRows is set
	rows    int64             // read so far
	guessed int64             // estimated number of rows before the first is read
}

// Schema implements [provider.Source].
func (s *Source) Schema() *arrow.Schema { return s.Out }

// NoValues implements [provider.Sampled].
func (s *Source) NoValues(column int) bool { return column < len(s.Empty) && s.Empty[column] }

// Guess estimates the number of rows from a sample of used bytes. The whole input has total bytes, or -1 if the size
// is unknown.
func (s *Source) Guess(rows, used, total int64) {
	if used > 0 {
		s.guessed = int64(math.Round(float64(rows) * float64(total) / float64(used)))
	}
}

// Estimate is the estimated number of all rows, from the bytes used so far.
func (s *Source) Estimate(used int64) (int64, bool) {
	if s.rows > int64(s.Text.SampleRows) && used > 0 && s.In.Size > 0 {
		return int64(float64(s.rows) * float64(s.In.Size) / float64(used)), true
	}
	return s.guessed, s.In.Size >= 0
}

// Fill calls next until a batch is full or it returns io.EOF as it is. next adds one record, and returns its number of
// bytes. Fill returns the number of records, 0 at the end.
func (s *Source) Fill(ctx context.Context, next func() (int, error)) (int64, error) {
	n, size := 0, 0
	for ; n < s.Options.BatchRows && size < BatchBytes; n++ {
		if n%1024 == 0 && ctx.Err() != nil {
			return 0, ctx.Err()
		}
		bytes, err := next()
		if err == io.EOF {
			break
		}
		if err != nil {
			return 0, err
		}
		size += bytes
	}
	s.rows += int64(n)
	return int64(n), nil
}

// Wrap adds the name of the input to an error.
func (s *Source) Wrap(err error) error {
	if err == nil || err == io.EOF || errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return err
	}
	return fmt.Errorf("%w in %s", err, s.In.Name)
}

// Close implements [provider.Source].
func (s *Source) Close() error {
	if s.Builder != nil {
		s.Builder.Release()
		s.Builder = nil
	}
	return errors.Join(s.temp.Close(), s.In.Close())
}

// OpenText reads a sample of the input in UTF-8, and leaves the rest in In.Reader. Without a name, the sample tells the
// encoding, or with AllRows the whole input.
func (s *Source) OpenText(ctx context.Context, encoding string) (sample []byte, whole bool, err error) {
	if err := s.spool(ctx); err != nil {
		return nil, false, err
	}
	if sample, whole, err = ReadSample(ctx, s.In.Reader, s.Text.SampleBytes); err != nil {
		return nil, false, err
	}
	switch {
	case encoding != "":
		s.Encoding, err = charset.Find(encoding)
	case s.Text.AllRows:
		s.Encoding, err = charset.DetectAll(contextReader{ctx, io.NewSectionReader(s.In.At, 0, s.size)})
	default:
		s.Encoding, err = charset.Detect(sample, whole)
	}
	if encoding == "" && (err != nil || !s.Encoding.IsUTF8()) {
		if err := provider.Foreign(s.In.Name, sample[:min(len(sample), provider.SniffBytes)]); err != nil {
			return nil, false, err
		}
	}
	if err != nil || s.Encoding.IsUTF8() {
		return sample, whole, err
	}
	s.In.Reader = s.Encoding.Reader(io.MultiReader(bytes.NewReader(sample), s.In.Reader))
	if s.In.Size > 0 {
		s.In.Size /= s.Encoding.Unit()
	}
	return ReadSample(ctx, s.In.Reader, s.Text.SampleBytes)
}

// Peek returns the first n bytes of the input, of which sample was read. whole means that the input ends there, or that
// the sample has all of it.
func (s *Source) Peek(ctx context.Context, sample []byte, sampleIsWhole bool, n int) (head []byte, whole bool, err error) {
	if sampleIsWhole || len(sample) >= n {
		return sample[:min(n, len(sample))], sampleIsWhole && len(sample) <= n, nil
	}
	more, whole, err := ReadSample(ctx, s.In.Reader, int64(n-len(sample)))
	s.In.Reader = io.MultiReader(bytes.NewReader(more), s.In.Reader)
	return append(bytes.Clone(sample), more...), whole, err
}

// spool gives the input random access if it must be read twice.
func (s *Source) spool(ctx context.Context) error {
	if !s.Text.AllRows {
		return nil
	}
	if s.In.At == nil || s.In.Size < 0 {
		temp, err := provider.Spool(contextReader{ctx, s.In.Reader}, s.Options.TempDir)
		if err != nil {
			return err
		}
		s.temp = temp
		s.In.At, s.In.Size = temp, temp.Size()
		s.In.Reader = io.NewSectionReader(temp, 0, temp.Size())
	}
	s.size = s.In.Size
	return nil
}

// Again returns the input in UTF-8 from its start. AllRows must be set.
func (s *Source) Again() io.Reader {
	return s.Encoding.Reader(io.NewSectionReader(s.In.At, 0, s.size))
}

// ErrSampleShort means that the sample ends within the first record.
var ErrSampleShort = errors.New("the sample is shorter than a record")

// ReadSample reads up to n bytes. whole means that the input ends there.
func ReadSample(ctx context.Context, r io.Reader, n int64) (sample []byte, whole bool, err error) {
	sample, err = io.ReadAll(io.LimitReader(contextReader{ctx, r}, n))
	return sample, int64(len(sample)) < n, err
}

// GrowSample doubles a sample that is shorter than a record.
func GrowSample(ctx context.Context, r io.Reader, sample []byte, most int) ([]byte, bool, error) {
	if len(sample) > most {
		return nil, false, fmt.Errorf("a record is longer than %d bytes", most)
	}
	more, whole, err := ReadSample(ctx, r, int64(len(sample)))
	return append(sample, more...), whole, err
}

// contextReader reads until a context ends.
type contextReader struct {
	ctx context.Context
	r   io.Reader
}

func (r contextReader) Read(p []byte) (int, error) {
	if err := r.ctx.Err(); err != nil {
		return 0, err
	}
	return r.r.Read(p)
}

// ShellQuote quotes an argument for a shell if necessary, for remedies.
func ShellQuote(s string) string {
	if strings.ContainsAny(s, " \t\"$&|;<>()*?[]#~`\\!{}") && !strings.Contains(s, "'") {
		return "'" + s + "'"
	}
	return s
}
