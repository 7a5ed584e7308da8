// Package read has Parquet files as tables of the engine.
//
//	File      the footer: columns as Arrow types, row groups
//	Table     a File as a table: row groups are its stripes
//	assembled columns that are nested, and others, which arrow-go assembles, from some row on
//
// Sources of knowledge about rows are the statistics of row groups, Bloom filters, dictionaries and column indexes.
package read

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/memory"
	pq "github.com/apache/arrow-go/v18/parquet"
	"github.com/apache/arrow-go/v18/parquet/file"
	"github.com/apache/arrow-go/v18/parquet/metadata"
	"github.com/apache/arrow-go/v18/parquet/pqarrow"
	"github.com/zeebo/xxh3"

	"github.com/amudai/amudai-go/internal/base/fault"
	"github.com/amudai/amudai-go/internal/base/lru"
	"github.com/amudai/amudai-go/internal/engine/table"
	"github.com/amudai/amudai-go/internal/format/projection"
	"github.com/amudai/amudai-go/storage"
	"github.com/amudai/amudai-go/table/parquet/internal/chunk"
	"github.com/amudai/amudai-go/table/parquet/internal/convert"
)

// File is an open Parquet file: its footer, and its columns as Arrow types. Many goroutines may use it.
type File struct {
	reader *table.Counted
	size   int64
	at     *readerAt
	file   *file.Reader
	arrow  *pqarrow.FileReader
	schema *arrow.Schema          // of all columns, as they are read
	read   []arrow.Field          // as pqarrow reads them
	shapes []arrow.Field          // by the rules of Parquet, before the stored type is restored
	units  map[int]arrow.TimeUnit // of the leaves of INT96
	groups []group
	// elements are the places of the leaves in the schema of the footer.
	elements []int
	checksum uint64 // of the footer
	source   *chunk.Source
	chunks   *lru.Cache[chunkKey, *chunk.Chunk]

	// unordered are the leaves of INT96, and of logical types that arrow-go does not know: their order is not known either.
	unordered map[int]bool
}

// group is a row group.
type group struct {
	first, rows int64
	meta        *metadata.RowGroupMetaData
}

const (
	// streamBuffer is the number of bytes of a column chunk that pqarrow reads at a time.
	streamBuffer = 1 << 20
	// tailBytes are read first: they hold most footers.
	tailBytes = 64 << 10
)

// Open reads the footer of a file. Columns are the paths of the columns that will be read, nil for all: columns of INT96 among them are
// looked through for their unit. The reader stays the caller's.
func Open(ctx context.Context, r storage.Reader, columns []string) (*File, error) {
	return openFile(ctx, r, columns, nil)
}

// HasInt96 reports whether there are columns of INT96, which have units if they were among those that Open looked through.
func (f *File) HasInt96() bool { return len(f.units) > 0 }

// openFile is Open, and with a schema takes units from it.
func openFile(ctx context.Context, r storage.Reader, columns []string, as *arrow.Schema) (*File, error) {
	f := &File{reader: &table.Counted{Reader: r}}
	f.chunks = lru.New[chunkKey, *chunk.Chunk](cachedChunks)
	if err := f.open(ctx, columns, as); err != nil {
		return nil, f.Place(err)
	}
	return f, nil
}

func (f *File) open(ctx context.Context, columns []string, as *arrow.Schema) error {
	footer, err := f.footer(ctx)
	if err != nil {
		return err
	}
	f.checksum = xxh3.Hash(footer)
	return convert.Guard(func() error {
		stored, err := f.parse(footer)
		if err != nil {
			return err
		}
		if err := f.findTypes(stored); err != nil || len(f.units) == 0 {
			return err
		}
		if as != nil {
			if columns = f.unitsOf(as); len(columns) == 0 {
				return f.findTypes(stored)
			}
		}
		if err := f.findUnits(ctx, columns); err != nil {
			return err
		}
		return f.findTypes(stored)
	})
}

// footer reads the metadata at the end of the file.
func (f *File) footer(ctx context.Context) ([]byte, error) {
	tail, size, err := f.reader.ReadSuffix(ctx, tailBytes)
	if err != nil {
		return nil, err
	}
	f.size, f.source = size, chunk.NewSource(f.reader, size)
	f.at = &readerAt{reader: f.reader}
	head := [4]byte([]byte(magic))
	if size >= 12 && (f.reader.Capabilities().Latency != storage.LatencyHigh || !bytes.HasSuffix(tail, head[:])) { // over a network, the same bytes at the end suffice
		if err := f.reader.ReadAt(ctx, head[:], 0); err != nil {
			return nil, err
		}
	}
	if err := checkMagic(head, tail, size); err != nil {
		return nil, err
	}
	n := int64(binary.LittleEndian.Uint32(tail[len(tail)-8:]))
	if n > size-12 {
		return nil, fmt.Errorf("the footer of %d bytes is longer than the file", n)
	}
	if n+8 <= int64(len(tail)) {
		return tail[int64(len(tail))-8-n : len(tail)-8], nil
	}
	return storage.ReadRange(ctx, f.reader, size-8-n, n)
}

// magic begins and ends a file.
const magic = "PAR1"

// checkMagic checks both ends of the file, for a clear error.
func checkMagic(head [4]byte, tail []byte, size int64) error {
	switch {
	case size < 12 || len(tail) < 12:
		return fmt.Errorf("not a Parquet file: %d bytes are too few", size)
	case string(tail[len(tail)-4:]) == "PARE":
		return errors.New("the file is encrypted, which is not supported")
	case string(head[:]) != magic:
		return fmt.Errorf("not a Parquet file: it starts with %q", head[:])
	case string(tail[len(tail)-4:]) != magic:
		return errors.New("the Parquet file has no footer: it is cut off or unfinished")
	}
	return nil
}

// parse parses the footer. The result is the stored Arrow schema, if there is one.
func (f *File) parse(footer []byte) (stored *arrow.Schema, err error) {
	meta, err := f.parseFooter(footer)
	if err != nil {
		return nil, fmt.Errorf("the footer: %w", err)
	}
	meta.SetSourceFileSize(f.size)
	props := pq.NewReaderProperties(memory.DefaultAllocator)
	props.BufferedStreamEnabled = true
	props.BufferSize = streamBuffer
	props.MaxCompressedPageSize = f.size // no page is larger than its file
	if f.file, err = file.NewParquetReader(io.NewSectionReader(f.at, 0, f.size), file.WithReadProps(props), file.WithMetadata(meta)); err != nil {
		return nil, err
	}
	stored = convert.TakeStored(meta.KeyValueMetadata())
	// Without its option Parallel pqarrow starts no goroutines, whose panics could not be caught.
	if f.arrow, err = pqarrow.NewFileReader(f.file, pqarrow.ArrowReadProperties{}, memory.DefaultAllocator); err != nil {
		return nil, err
	}
	return stored, f.readGroups()
}

func (f *File) meta() *metadata.FileMetaData { return f.file.MetaData() }

// readGroups checks the row groups in the footer, because pqarrow uses them unchecked.
func (f *File) readGroups() error {
	leaves := f.meta().Schema.NumColumns()
	f.groups = make([]group, f.file.NumRowGroups())
	first := int64(0)
	for g := range f.groups {
		meta := f.meta().RowGroup(g)
		if meta.NumRows() < 0 || meta.NumRows() > maxRows-first {
			return fmt.Errorf("row group %d has %d rows", g, meta.NumRows())
		}
		if meta.NumColumns() != leaves {
			return fmt.Errorf("row group %d has %d column chunks, the schema has %d", g, meta.NumColumns(), leaves)
		}
		for c := range leaves {
			column, err := meta.ColumnChunk(c)
			if err != nil {
				return fmt.Errorf("row group %d, column chunk %d: %w", g, c, err)
			}
			if from, n := column.DataPageOffset(), column.TotalCompressedSize(); from < 0 || n < 0 || from > f.size || n > f.size {
				return fmt.Errorf("row group %d, column chunk %d: %d bytes at %d lie outside the file of %d bytes", g, c, n, from, f.size)
			}
		}
		f.groups[g] = group{first, meta.NumRows(), meta}
		first += meta.NumRows()
	}
	return nil
}

// maxRows is more rows than a file can have.
const maxRows = 1 << 50

// findTypes finds the Arrow types of the columns.
func (f *File) findTypes(stored *arrow.Schema) error {
	all, err := f.arrow.Schema()
	if err != nil {
		return err
	}
	by := convert.Shaper{}
	for leaf, unit := range f.units {
		by[f.meta().Schema.Column(leaf).SchemaNode()] = unit
	}
	f.read, f.shapes = all.Fields(), all.Fields()
	if len(f.arrow.Manifest.Fields) != len(f.read) {
		return errors.New("the schema has fields that cannot be read")
	}
	for i, root := 0, f.meta().Schema.Root(); i < len(f.shapes) && len(f.shapes) == root.NumFields(); i++ {
		f.shapes[i].Type = by.TypeOf(root.Field(i), f.shapes[i].Type)
	}
	read := all.Metadata()
	f.schema = convert.RestoredSchema(arrow.NewSchema(f.shapes, &read), stored)
	return nil
}

// Schema is the schema of all columns.
func (f *File) Schema() *arrow.Schema { return f.schema }

// NumRows is the sum of the rows of all row groups: the total in the footer may be wrong.
func (f *File) NumRows() (n int64) {
	if k := len(f.groups); k > 0 {
		n = f.groups[k-1].first + f.groups[k-1].rows
	}
	return n
}

// Place adds the name of the file to an error, and makes its text short.
func (f *File) Place(err error) error {
	if err == nil || errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) || fault.Is(err) {
		return err
	}
	text := strings.TrimPrefix(err.Error(), "parquet: ")
	return fmt.Errorf("%w (in %s)", plainError{text, err}, f.reader.Name())
}

// plainError replaces the text of an error that it wraps.
type plainError struct {
	text string
	err  error
}

func (e plainError) Error() string { return e.text }
func (e plainError) Unwrap() error { return e.err }

// leavesOf returns the leaves of the columns at paths, nil for all. Unknown paths are left out.
func (f *File) leavesOf(paths []string) (leaves []int) {
	if paths == nil {
		for i := range f.read {
			leaves = appendLeaves(leaves, f.arrow.Manifest.Fields[i])
		}
		return leaves
	}
	for _, path := range paths {
		if p, err := projection.New(f.schema, []string{path}); err == nil {
			leaves = append(leaves, f.columnOf(p.Index(0), p.Part(0), p.Schema().Field(0).Type).leaves...)
		}
	}
	slices.Sort(leaves)
	return slices.Compact(leaves)
}
