package shard

import (
	"cmp"
	"context"
	"errors"
	"io"
	"time"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/amudai/amudai-go/internal/base/option"
	"github.com/amudai/amudai-go/internal/format/schema"
	"github.com/amudai/amudai-go/shard/internal/inspect"
	"github.com/amudai/amudai-go/shard/internal/root"
	"github.com/amudai/amudai-go/shard/internal/shardfile"
	"github.com/amudai/amudai-go/shard/internal/shardtable"
	"github.com/amudai/amudai-go/storage"
)

// OpenOptions are the options of [Open] and [OpenReaderAt]. The zero value is the default.
type OpenOptions struct {
	Store  storage.Store // has the files of the shard, by default the registered store of the location
	Policy Policy        // allows references to files outside the folder of the root file; by default there are none
	// Directory is the byte range of the directory message in a file that holds several
	// (docs/format.md §2.8). nil means the directory that the footer names.
	Directory *ByteRange
	// Version is the number of an earlier version of the shard that is kept (see [KeepVersions]), which is opened instead; 0 means the present one.
	Version int64
	// AsOf is a time, whose version is opened: the newest up to it. It is not used if Version is set.
	AsOf time.Time
	// Types chooses Arrow types for columns without a recorded Arrow type, such as those of
	// shards that the reference implementation wrote.
	Types TypeOptions
	// SuffixBytes is the number of bytes at the end of the file that the first request reads,
	// by default 64 KiB.
	SuffixBytes int
	// CacheBytes bounds the cache of parsed metadata, by default 32 MiB. Open columns, the blocks of texts that Take, scans for few rows
	// and searches use again, and the rows that filters found share a cache of twice as much.
	CacheBytes      int64
	MaxMessageBytes int64 // bounds one metadata message, by default 256 MiB
	// MaxBlockBytes bounds the decoded size of a block. By default it is 64 MiB, or 256 times
	// the encoded size for blocks of more than 256 KiB, and at most 1 GiB.
	MaxBlockBytes      int64
	MaxDictionaryBytes int64 // bounds a value dictionary, by default 1 GiB
	// IndexError is called when an index cannot be read, and a scan goes on without it: by any goroutine, perhaps by
	// several at once, and again for each stripe. The rows of the scan are right. nil means that such errors are only
	// notes of table.Table.Explain.
	IndexError func(err error)
}

func (o *OpenOptions) check() error {
	return cmp.Or(
		option.SetDefault("OpenOptions.MaxBlockBytes", &o.MaxBlockBytes, 0), // the stripe's
		option.SetDefault("OpenOptions.MaxDictionaryBytes", &o.MaxDictionaryBytes, 0),
	)
}

func (o *OpenOptions) file() shardfile.OpenOptions {
	return shardfile.OpenOptions{
		Store: o.Store, Policy: o.Policy, Directory: o.Directory,
		SuffixBytes: o.SuffixBytes, CacheBytes: o.CacheBytes, MaxMessageBytes: o.MaxMessageBytes,
	}
}

// Shard is a shard that is open for reading. Many goroutines may use it at once.
type Shard struct {
	o      OpenOptions
	file   *shardfile.File
	schema *schema.Schema
	table  *shardtable.Table
}

// Open opens a shard for reading. It reads the directory, the list of stripes and the schema, which
// takes one request unless the metadata is large. It reads no columns. The caller must Close the
// shard.
//
// The error wraps [io/fs.ErrNotExist] if there is no such file, and [ErrCorrupt] if the file is not
// a shard.
func Open(ctx context.Context, location string, o OpenOptions) (*Shard, error) {
	if err := o.check(); err != nil {
		return nil, err
	}
	f, err := shardfile.Open(ctx, location, o.file())
	if at := (root.At{Number: o.Version, Time: o.AsOf}); err == nil && !at.IsZero() {
		f, err = root.OpenVersion(ctx, f, o.file(), at)
	}
	if err != nil {
		return nil, err
	}
	return fromFile(ctx, f, o)
}

func fromFile(ctx context.Context, f *shardfile.File, o OpenOptions) (*Shard, error) {
	s, err := f.Schema(ctx)
	if err != nil {
		f.Close()
		return nil, err
	}
	return &Shard{o: o, file: f, schema: s, table: o.table(f, s)}, nil
}

func (o *OpenOptions) table(f *shardfile.File, s *schema.Schema) *shardtable.Table {
	return shardtable.New(f, s, shardtable.Options{
		Types: o.Types, CacheBytes: o.CacheBytes, MaxBlockBytes: o.MaxBlockBytes, MaxDictionaryBytes: o.MaxDictionaryBytes,
		IndexError: o.IndexError,
	})
}

// Close closes the files of the shard. All scans must have ended before. Batches stay valid.
func (s *Shard) Close() error { return s.file.Close() }

// Location is the location that was given to Open.
func (s *Shard) Location() string { return s.file.Location() }

// Size is the number of bytes of the root file. With layout [TwoLevel], the data of stripes is in
// other files, which do not count.
func (s *Shard) Size() int64 { return s.file.Size() }

// NumRows is the number of rows of all stripes. Deleted rows, which no question about rows shows, count: the others keep their numbers.
func (s *Shard) NumRows() int64 { return s.file.Rows() }

// NumStripes is the number of stripes.
func (s *Shard) NumStripes() int { return s.file.NumStripes() }

// StripeRows is the range of row numbers of stripe i. It panics unless 0 <= i < NumStripes.
func (s *Shard) StripeRows(i int) RowRange {
	st := s.file.Stripe(i)
	return RowRange{From: st.Position(), To: st.Position() + st.Rows()}
}

// ArrowSchema is the Arrow schema of a scan of all columns. It parses the whole stored schema, and
// reads the statistics of columns whose Arrow type depends on them (see [TicksAuto]).
func (s *Shard) ArrowSchema(ctx context.Context) (*arrow.Schema, error) {
	return s.table.ArrowSchema(ctx)
}

// Properties are the creation times and the properties of a shard (docs/format.md §11).
type Properties struct {
	// CreatedMin and CreatedMax are the times at which the oldest and the newest data was
	// written, in UTC. They are zero if they are not recorded.
	CreatedMin, CreatedMax time.Time
	// Standard properties have names that the format defines. Custom properties were set by
	// users of the writer.
	Standard, Custom []Property
}

// Get returns the value of the first property with a name. Custom properties take precedence.
func (p *Properties) Get(name string) (value any, ok bool) {
	for _, list := range [][]Property{p.Custom, p.Standard} {
		for _, q := range list {
			if q.Name == name {
				return q.Value, true
			}
		}
	}
	return nil, false
}

// Properties reads the properties of the shard.
func (s *Shard) Properties(ctx context.Context) (*Properties, error) {
	m, err := s.file.Properties(ctx)
	if err != nil {
		return nil, err
	}
	p := &Properties{
		Standard: shardfile.PropertiesFromProto(m.StandardProperties),
		Custom:   shardfile.PropertiesFromProto(m.CustomProperties),
	}
	if m.CreationMin.GetTicks() != 0 {
		p.CreatedMin = shardfile.Time(m.CreationMin.GetTicks())
	}
	if m.CreationMax.GetTicks() != 0 {
		p.CreatedMax = shardfile.Time(m.CreationMax.GetTicks())
	}
	return p, nil
}

// StripeProperties reads the properties of stripe i. It panics unless 0 <= i < NumStripes.
func (s *Shard) StripeProperties(ctx context.Context, i int) (standard, custom []Property, err error) {
	m, err := s.file.Stripe(i).Properties(ctx)
	if err != nil {
		return nil, nil, err
	}
	return shardfile.PropertiesFromProto(m.StandardProperties), shardfile.PropertiesFromProto(m.CustomProperties), nil
}

// FieldProperties reads the properties of the column at path, for the whole shard.
func (s *Shard) FieldProperties(ctx context.Context, path string) (standard, custom []Property, err error) {
	n, err := s.schema.Path(path)
	if err != nil {
		return nil, nil, err
	}
	d, err := s.file.FieldDescriptor(ctx, n.ID())
	if err != nil {
		return nil, nil, err
	}
	return shardfile.PropertiesFromProto(d.GetStandardProperties()), shardfile.PropertiesFromProto(d.GetCustomProperties()), nil
}

// UnknownFeatures lists the features of the shard that this version does not know, and its edition
// if that is unknown. Columns that do not use unknown features are readable.
func (s *Shard) UnknownFeatures(ctx context.Context) ([]string, error) {
	p, err := s.Properties(ctx)
	if err != nil {
		return nil, err
	}
	return shardfile.UnknownFeatures(p.Standard), nil
}

// streamLocation is the location of a shard without a store, also in error messages.
const streamLocation = "stream:///shard"

// OpenReaderAt opens a shard in the first size bytes of r, for example an [os.File] or a
// [bytes.Reader]. The shard must have the layout [SingleFile], because other files are found only
// from a location. r must allow concurrent reads, as [io.ReaderAt] demands, and its bytes must not
// change. [Shard.Close] does not close r. o.Store must be nil.
func OpenReaderAt(ctx context.Context, r io.ReaderAt, size int64, o OpenOptions) (*Shard, error) {
	if o.Store != nil {
		return nil, errors.New("OpenOptions.Store is set, but the shard is read from an io.ReaderAt")
	}
	o.Store = storage.FromReaderAt(streamLocation, r, size)
	return Open(ctx, streamLocation, o)
}

// NewWriter begins a shard of the layout [SingleFile] that is written to out. Unlike [Create] it has
// no final step that makes the shard visible: bytes reach out as they are written. Before Close,
// after Abort and after an error, out holds an incomplete shard, which readers refuse.
// [Writer.Close] does not close out. o.Store must be nil.
func NewWriter(ctx context.Context, out io.Writer, s *arrow.Schema, o WriterOptions) (*Writer, error) {
	switch {
	case o.Store != nil:
		return nil, errors.New("WriterOptions.Store is set, but the shard is written to an io.Writer")
	case o.Layout != SingleFile:
		return nil, errors.New("WriterOptions.Layout must be SingleFile to write to an io.Writer")
	}
	o.Store = storage.ToWriter(streamLocation, out)
	return Create(ctx, streamLocation, s, o)
}

// PropertyEdition is the standard property with the edition of the encodings of a shard.
const PropertyEdition = shardfile.PropertyEdition

// PlainValue converts a value of a [Property] that JSON cannot represent to text.
func PlainValue(v any) any { return inspect.PlainValue(v) }

func (s *Shard) recorded() inspect.Recorded {
	return inspect.Recorded{File: s.file, Schema: s.schema, Table: s.table}
}
