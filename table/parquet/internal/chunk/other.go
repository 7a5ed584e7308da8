package chunk

import (
	"encoding/binary"
	"errors"

	"github.com/apache/arrow-go/v18/arrow/memory"
	pq "github.com/apache/arrow-go/v18/parquet"
	"github.com/apache/arrow-go/v18/parquet/compress"
	"github.com/apache/arrow-go/v18/parquet/file"
	"github.com/apache/arrow-go/v18/parquet/schema"

	"github.com/amudai/amudai-go/internal/arrow/arrowutil"
	"github.com/amudai/amudai-go/internal/base/fault"
	"github.com/amudai/amudai-go/table/parquet/internal/convert"
)

// decodeOther decodes values of an encoding other than plain and codes, by arrow-go, to plain ones.
func (c *Chunk) decodeOther(p *page, h *pageHeader, values []byte) error {
	n := p.rows
	if p.optional {
		levels := p.start.levels
		ones, ok := levels.bits(nil, 0, n)
		if !ok {
			return errLevels
		}
		n = ones
	}
	return convert.Guard(func() error {
		one := &onePage{page: file.NewDataPageV1(memory.NewBufferBytes(values), int32(n), pq.Encoding(h.encoding), pq.Encodings.RLE, pq.Encodings.RLE, int32(len(values)))}
		required, err := requiredColumn(c.Column)
		if err != nil {
			return err
		}
		//lint:ignore SA1019 no other function of arrow-go decodes one page of any encoding: its record readers take pages with too few values for whole
		r := file.NewColumnReader(required, one, memory.DefaultAllocator, nil)
		switch r := r.(type) {
		case *file.Int32ColumnChunkReader:
			p.data, err = readValues(n, r.ReadBatch, addFixed)
		case *file.Int64ColumnChunkReader:
			p.data, err = readValues(n, r.ReadBatch, addFixed)
		case *file.Float32ColumnChunkReader:
			p.data, err = readValues(n, r.ReadBatch, addFixed)
		case *file.Float64ColumnChunkReader:
			p.data, err = readValues(n, r.ReadBatch, addFixed)
		case *file.ByteArrayColumnChunkReader:
			p.data, err = readValues(n, r.ReadBatch, func(dst []byte, values []pq.ByteArray) []byte {
				for _, v := range values {
					dst = append(binary.LittleEndian.AppendUint32(dst, uint32(len(v))), v...)
				}
				return dst
			})
		case *file.FixedLenByteArrayColumnChunkReader:
			p.data, err = readValues(n, r.ReadBatch, func(dst []byte, values []pq.FixedLenByteArray) []byte {
				for _, v := range values {
					dst = append(dst, v...)
				}
				return dst
			})
			if err == nil && len(p.data) != n*c.Column.TypeLength() {
				err = errors.New("values of another length")
			}
		default:
			return fault.Unsupportedf("encoding %d of %v", h.encoding, c.Column.PhysicalType())
		}
		return err
	})
}

// requiredColumn is a column without levels.
func requiredColumn(c *schema.Column) (*schema.Column, error) {
	n, err := schema.NewPrimitiveNode(c.Name(), pq.Repetitions.Required, c.PhysicalType(), -1, int32(c.TypeLength()))
	if err != nil {
		return nil, err
	}
	return schema.NewColumn(n, 0, 0), nil
}

// decodeStep is how many values are decoded at a time.
const decodeStep = 4096

type readBatch[T any] func(batch int64, values []T, def, rep []int16) (total int64, n int, err error)

var errFew = errors.New("a page has fewer values than its header says")

// readValues decodes n values, of which add makes plain ones. Memory grows with the values that there are.
func readValues[T any](n int, read readBatch[T], add func([]byte, []T) []byte) ([]byte, error) {
	var out []byte
	values := make([]T, min(n, decodeStep))
	for done := 0; done < n; {
		_, k, err := read(int64(min(n-done, len(values))), values, nil, nil)
		if err != nil || k == 0 {
			return nil, errors.Join(errFew, err)
		}
		if out = add(out, values[:k]); len(out) > maxPageBytes {
			return nil, fault.Limitf("a page of more than %d bytes", maxPageBytes)
		}
		done += k
	}
	return append(out, make([]byte, padding)...)[:len(out)], nil
}

func addFixed[T any](dst []byte, values []T) []byte { return append(dst, arrowutil.Bytes(values)...) }

// onePage is a file.PageReader of one page.
type onePage struct {
	page    file.Page
	current file.Page
}

func (o *onePage) SetMaxPageHeaderSize(int) {}
func (o *onePage) Page() file.Page          { return o.current }

func (o *onePage) Next() bool {
	o.current, o.page = o.page, nil
	return o.current != nil
}

func (o *onePage) Err() error                                                                { return nil }
func (o *onePage) Reset(pq.BufferedReader, int64, compress.Compression, *file.CryptoContext) {}
func (o *onePage) GetDictionaryPage() (*file.DictionaryPage, error)                          { return nil, nil }
func (o *onePage) SeekToPageWithRow(int64) error                                             { return errors.ErrUnsupported }
func (o *onePage) Close() error                                                              { return nil }
