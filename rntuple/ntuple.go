package rntuple

import (
	"cmp"
	"context"
	"errors"
	"io"
	"strings"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/amudai/amudai-go/rntuple/internal/fields"
	"github.com/amudai/amudai-go/rntuple/internal/read"
	"github.com/amudai/amudai-go/rntuple/internal/rootfile"
	"github.com/amudai/amudai-go/storage"
)

// Options are the options of [Open] and [OpenReaderAt]. The zero value is the default.
type Options struct {
	// Path is the path of the ntuple in the directories of the file, such as "Events" or
	// "dir/Events". It may be empty if the file has only one. The location of Open can name
	// it, too: "file.root:dir/Events".
	Path string
	// Store holds the file. The default is the registered store of the location.
	Store storage.Store
	// Binary reads std::string as binary. By default it is a string, and a value that is not
	// UTF-8 is an error.
	Binary bool
	// LargeOffsets gives strings, binaries and lists 64-bit offsets.
	LargeOffsets bool
	// VariantsAsStructs reads std::variant as a struct of the number of the active alternative,
	// "tag", and the alternatives "_0", "_1", ..., null but for the active one. By default it
	// is a dense union with the tag as type code, where 0 is a variant without a value.
	VariantsAsStructs bool
	// NoProjected leaves out projected fields, which show the values of other fields again.
	NoProjected bool
	// NoArrowTypes reads fields that were written from Arrow types which RNTuple lacks, such as
	// timestamps, as what they are stored as. By default descriptions that name the Arrow type
	// give it back.
	NoArrowTypes bool
	// NoPageChecksums trusts pages without comparing their checksums.
	NoPageChecksums bool
	// CacheBytes bounds the decoded pages that are kept for the next batch, by default 64 MiB.
	CacheBytes int64
}

func (o *Options) read() read.Options {
	return read.Options{
		Fields:  fields.Options{Binary: o.Binary, LargeOffsets: o.LargeOffsets, VariantStructs: o.VariantsAsStructs, NoProjected: o.NoProjected, NoArrowTypes: o.NoArrowTypes},
		Trusted: o.NoPageChecksums, CacheBytes: o.CacheBytes,
	}
}

// NTuple is an RNTuple that is open for reading. Many goroutines may use it at once.
type NTuple struct {
	reader storage.Reader // nil if it stays another ntuple's
	file   *rootfile.File
	table  *read.Table
	o      Options
}

// Open opens an ntuple of a ROOT file. It reads directories, anchor, header and footer. The caller
// must Close the ntuple.
//
// The error wraps [io/fs.ErrNotExist] if there is no such file. Files of other kinds, and formats that
// are not supported, are errors that name them.
func Open(ctx context.Context, location string, o Options) (*NTuple, error) {
	f, r, path, err := openLocation(ctx, location, o.Store)
	if err != nil {
		return nil, err
	}
	o.Path = cmp.Or(path, o.Path)
	return fromFile(ctx, f, r, o)
}

// openLocation opens a file that may be followed by the path of an ntuple. A file of the whole name wins.
func openLocation(ctx context.Context, location string, store storage.Store) (*rootfile.File, storage.Reader, string, error) {
	file, path := SplitLocation(location)
	if file != location {
		if f, r, err := openFile(ctx, location, store); err == nil {
			return f, r, "", nil
		}
	}
	f, r, err := openFile(ctx, file, store)
	return f, r, path, err
}

// OpenReaderAt is [Open] for the size bytes of r, which stays the caller's, and must neither change
// nor be closed before the ntuple. Errors call it name.
func OpenReaderAt(ctx context.Context, name string, r io.ReaderAt, size int64, o Options) (*NTuple, error) {
	o.Store = storage.FromReaderAt(name, r, size)
	f, reader, err := openFile(ctx, name, o.Store)
	if err != nil {
		return nil, err
	}
	return fromFile(ctx, f, reader, o)
}

func openFile(ctx context.Context, location string, store storage.Store) (*rootfile.File, storage.Reader, error) {
	if store == nil {
		var err error
		if store, err = storage.ForLocation(location); err != nil {
			return nil, nil, err
		}
	}
	r, err := store.Open(ctx, location)
	if err != nil {
		return nil, nil, err
	}
	f, err := rootfile.Open(ctx, read.Count(r))
	if err != nil {
		return nil, nil, errors.Join(err, r.Close())
	}
	return f, r, nil
}

func fromFile(ctx context.Context, f *rootfile.File, r storage.Reader, o Options) (*NTuple, error) {
	t, err := read.Open(ctx, f, o.Path, o.read())
	if err != nil {
		return nil, errors.Join(err, r.Close())
	}
	return &NTuple{reader: r, file: f, table: t, o: o}, nil
}

// SplitLocation splits "file.root:dir/name" into the location of the file and the path of an ntuple in
// it, which is empty if the location names none.
func SplitLocation(location string) (file, path string) {
	i := strings.LastIndex(strings.ToLower(location), fileExtension+":")
	if i < 0 {
		return location, ""
	}
	i += len(fileExtension)
	return location[:i], strings.TrimPrefix(location[i+1:], "/")
}

const fileExtension = ".root"

// Info describes an ntuple of a file.
type Info struct {
	Path string // to open it by
	// Format is the version of its format, for example "1.0.0.0". Err says why it cannot be
	// read, nil if it can.
	Format string
	Err    error
}

// List lists the ntuples of a file, in all directories. Of those that cannot be read it says why.
func List(ctx context.Context, location string, o Options) (list []Info, err error) {
	f, r, _, err := openLocation(ctx, location, o.Store)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, r.Close()) }()
	return listFile(ctx, f), ctx.Err()
}

func listFile(ctx context.Context, f *rootfile.File) (list []Info) {
	for _, object := range f.NTuples() {
		info := Info{Path: object.Path()}
		l, err := read.List(ctx, f, object)
		if err != nil {
			info.Err = err
		} else {
			info.Format, info.Err = l.Format, l.Err
		}
		list = append(list, info)
	}
	return list
}

// Close closes the file. All scans must have ended before. Batches stay valid.
func (n *NTuple) Close() error {
	if n.reader == nil {
		return nil
	}
	return n.reader.Close()
}

// ArrowSchema is the Arrow schema of a scan of all fields. Its metadata has the name, the description and
// the writer of the ntuple, that of its fields their C++ types, descriptions and versions.
func (n *NTuple) ArrowSchema() *arrow.Schema { return n.table.ArrowSchema() }

// Name is the name of the ntuple.
func (n *NTuple) Name() string { return n.table.Schema().Name }

// Path is the path of the ntuple in the directories of the file.
func (n *NTuple) Path() string { return n.table.Path() }

// Description is the text that the writer gave to the ntuple.
func (n *NTuple) Description() string { return n.table.Schema().Description }

// Writer is the program that wrote the ntuple.
func (n *NTuple) Writer() string { return n.table.Schema().Writer }

// Format is the version of the ntuple's format, for example "1.0.0.0".
func (n *NTuple) Format() string { return n.table.Anchor().Version.String() }

// NumEntries is the number of entries.
func (n *NTuple) NumEntries() int64 { return n.table.NumRows() }

// Skipped is a top-level field that cannot be read, and the reason: it needs a column type, a role or
// a version of a newer format. Other fields are not affected.
type Skipped struct{ Field, Reason string }

// Skipped lists the fields that are not in the Arrow schema because they cannot be read.
func (n *NTuple) Skipped() []Skipped {
	var all []Skipped
	for _, s := range n.table.Skipped() {
		all = append(all, Skipped{s.Name, s.Reason})
	}
	return all
}

// Clusters are the ranges of entries that are stored together. The first call reads the page lists.
func (n *NTuple) Clusters(ctx context.Context) ([]EntryRange, error) {
	if err := n.table.Load(ctx); err != nil {
		return nil, err
	}
	ranges := make([]EntryRange, n.table.NumStripes())
	for i := range ranges {
		s := n.table.Stripe(i)
		ranges[i] = EntryRange{From: s.Position(), To: s.Position() + s.Rows()}
	}
	return ranges, nil
}

// AttributeSets are the names of the linked attribute sets: ntuples that annotate ranges of entries
// (format 1.0.1).
func (n *NTuple) AttributeSets() []string {
	var names []string
	for _, a := range n.table.Footer().Attributes {
		names = append(names, a.Name)
	}
	return names
}

// OpenAttributes opens an attribute set. Its fields are _rangeStart and _rangeLen, a range of entries,
// and _userData. It must not be used after n is closed.
func (n *NTuple) OpenAttributes(ctx context.Context, name string) (*NTuple, error) {
	t, err := n.table.OpenAttributes(ctx, name, n.o.read())
	if err != nil {
		return nil, err
	}
	return &NTuple{file: n.file, table: t, o: n.o}, nil
}
