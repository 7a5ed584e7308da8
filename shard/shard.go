package shard

import (
	"cmp"
	"context"
	"strings"
	"time"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/amudai/amudai-go/internal/engine/scan"
	"github.com/amudai/amudai-go/internal/engine/shardtable"
	"github.com/amudai/amudai-go/internal/format/edition"
	"github.com/amudai/amudai-go/internal/format/schema"
	"github.com/amudai/amudai-go/internal/format/shardfile"
	"github.com/amudai/amudai-go/storage"
)

// OpenOptions are those of [Open]. The zero value is the default.
type OpenOptions struct {
	// Store holds the artifacts; by default the one that the location belongs to.
	Store storage.Store
	// Policy says which artifacts outside the folder of the root a shard may
	// refer to; by default none.
	Policy Policy
	// Directory is where the directory of the shard lies in an artifact that holds
	// several; nil means that of the footer.
	Directory *ByteRange
	// Types chooses the Arrow types of columns that have none recorded, as
	// in shards of the reference.
	Types TypeOptions
	// SuffixBytes is how much of the artifact's end the first request reads, by
	// default 64 KiB.
	SuffixBytes int
	// CacheBytes bounds the parsed metadata that is kept, and again the open columns
	// that are kept for the next Take; by default 32 MiB each.
	CacheBytes int64
	// MaxMessageBytes bounds one message of the metadata, by default 256 MiB.
	MaxMessageBytes int64
	// MaxBlockBytes bounds what one block of a column may decode to, by default 64
	// MiB, for blocks of more than 256 KiB 256 times their size, and never more
	// than 1 GiB: only a single value of that size makes such a block.
	// MaxDictionaryBytes bounds a value dictionary, by default 1 GiB.
	MaxBlockBytes      int64
	MaxDictionaryBytes int64
}

func (o *OpenOptions) check() error {
	return cmp.Or(
		scan.SetDefault("OpenOptions.MaxBlockBytes", &o.MaxBlockBytes, 0), // the stripe's
		scan.SetDefault("OpenOptions.MaxDictionaryBytes", &o.MaxDictionaryBytes, 0),
	)
}

func (o *OpenOptions) file() shardfile.OpenOptions {
	return shardfile.OpenOptions{
		Store: o.Store, Policy: o.Policy, Directory: o.Directory,
		SuffixBytes: o.SuffixBytes, CacheBytes: o.CacheBytes, MaxMessageBytes: o.MaxMessageBytes,
	}
}

// Shard is a shard that is open for reading. It may be used by many goroutines at
// once.
type Shard struct {
	o      OpenOptions
	file   *shardfile.File
	schema *schema.Schema
	table  *shardtable.Table
}

// Open opens a shard. It reads the directory, the list of stripes and the schema:
// one request for a shard with little metadata. Neither columns nor their
// descriptors are touched.
func Open(ctx context.Context, location string, o OpenOptions) (*Shard, error) {
	if err := o.check(); err != nil {
		return nil, err
	}
	f, err := shardfile.Open(ctx, location, o.file())
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
	table := shardtable.New(f, s, shardtable.Options{
		Types: o.Types, CacheBytes: o.CacheBytes, MaxBlockBytes: o.MaxBlockBytes, MaxDictionaryBytes: o.MaxDictionaryBytes,
	})
	return &Shard{o: o, file: f, schema: s, table: table}, nil
}

// Close closes the shard's artifacts. Scans must have ended.
func (s *Shard) Close() error { return s.file.Close() }

// Location is what the shard was opened by.
func (s *Shard) Location() string { return s.file.Location() }

// Size is the number of bytes of the artifact that the shard was opened from. With
// layout [TwoLevel] stripes lie in others.
func (s *Shard) Size() int64 { return s.file.Size() }

// NumRows is the number of rows of all stripes.
func (s *Shard) NumRows() int64 { return s.file.Rows() }

// NumStripes is the number of stripes.
func (s *Shard) NumStripes() int { return s.file.NumStripes() }

// StripeRows are the rows of stripe i of NumStripes, counted in the shard.
func (s *Shard) StripeRows(i int) RowRange {
	st := s.file.Stripe(i)
	return RowRange{From: st.Position(), To: st.Position() + st.Rows()}
}

// ArrowSchema is the schema of a scan of all columns. It reads the whole stored
// schema, and the statistics of the columns whose Arrow type depends on them
// (see [TicksAuto]).
func (s *Shard) ArrowSchema(ctx context.Context) (*arrow.Schema, error) {
	return s.table.ArrowSchema(ctx)
}

// Properties are facts about a shard.
type Properties struct {
	// CreatedMin and CreatedMax are when its oldest and newest data was written;
	// zero if that is not recorded.
	CreatedMin, CreatedMax time.Time
	// Standard properties have names that the format defines, Custom those that
	// users gave.
	Standard, Custom []Property
}

// Get is the first property of a name, custom ones first.
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

// Properties reads the shard's properties.
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

// StripeProperties reads the properties of stripe i.
func (s *Shard) StripeProperties(ctx context.Context, i int) (standard, custom []Property, err error) {
	m, err := s.file.Stripe(i).Properties(ctx)
	if err != nil {
		return nil, nil, err
	}
	return shardfile.PropertiesFromProto(m.StandardProperties), shardfile.PropertiesFromProto(m.CustomProperties), nil
}

// FieldProperties reads the properties of the column at path, as they are for the
// whole shard.
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

// UnknownFeatures lists the features that the shard says it uses and this version
// does not know, and its edition if that is not known. Columns that do not use
// them can be read.
func (s *Shard) UnknownFeatures(ctx context.Context) ([]string, error) {
	p, err := s.Properties(ctx)
	if err != nil {
		return nil, err
	}
	var unknown []string
	for _, q := range p.Standard {
		text, _ := q.Value.(string)
		switch q.Name {
		case shardfile.PropertyEdition:
			if _, err := edition.Parse(text); err != nil {
				unknown = append(unknown, "edition "+text)
			}
		case shardfile.PropertyFeatures:
			for _, name := range strings.Split(text, ",") {
				if name != "" && !edition.Known(name) {
					unknown = append(unknown, name)
				}
			}
		}
	}
	return unknown, nil
}
