package rntuple

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/amudai/amudai-go/internal/base/fault"
	"github.com/amudai/amudai-go/rntuple/internal/compress"
	"github.com/amudai/amudai-go/rntuple/internal/merge"
	"github.com/amudai/amudai-go/rntuple/internal/read"
	"github.com/amudai/amudai-go/rntuple/internal/rootfile"
	"github.com/amudai/amudai-go/rntuple/internal/write"
	"github.com/amudai/amudai-go/storage"
)

// MergeOptions are the options of [Merge]. The zero value is the default.
type MergeOptions struct {
	// Store has the files, and receives the new one. The default is the registered store of each location.
	Store storage.Store
	// Overwrite permits the replacement of an existing file.
	Overwrite bool
	// Append adds the entries to those of the file at the location, whose objects, clusters and pages keep their places. The file is replaced at the end, unless it was
	// changed meanwhile, which is [storage.ErrChanged]. Without a file, a new one is made. Overwrite has no meaning.
	Append bool
	// Name is the path of the only ntuple to merge; by default all of the files are.
	Name string
	// Compression packs all pages anew that are not compressed so, as WriterOptions.Compression; by default they stay as they are.
	Compression int
	// Time and UUID are recorded in the file, as those of [WriterOptions].
	Time time.Time
	UUID [16]byte
	// DryRun tells whether the ntuples can be merged, and what would be done, and writes nothing. No pages are counted.
	DryRun bool
	// Progress is told how many of the entries are copied, between clusters.
	Progress func(done, total int64)
}

// MergeReport says what [Merge] did, or would do.
type MergeReport struct {
	NTuples []string // of the new file, by their paths
	Entries int64    // of all of them
	// Copied and Encoded count pages: those that were copied as they were, and those that were packed anew.
	Copied, Encoded int64
	// Missing are fields, "path.field", that some ntuples lack. Their entries have zeros, empty collections and texts, and no optional values there.
	Missing []string
	// LeftOut are objects of the files that are no ntuples, such as histograms and trees, and attribute sets: "file:path".
	LeftOut []string
}

// Merge makes a file of the ntuples of others, as hadd does: ntuples of one path become one, whose entries are those of the files, in their order. Pages are
// copied as they are stored, and values are not decoded. Only pages of a column that is encoded in another way than in the first ntuple are packed anew, such as those of
// writers that do not split bytes.
//
// Fields are matched by name at the top, and have to be equal below, C++ types included: others are an error that names the field, and so is an encoding that
// would lose values. A field that the first ntuple lacks is a late one, as those of [Writer.Extend]. Ntuples of format 0.2 are refused. Errors have the hint to
// convert, which decodes values and finds common types. Files are local or in registered stores. Checksums of pages are compared, and those that have none get one.
func Merge(ctx context.Context, location string, files []string, o MergeOptions) (r *MergeReport, err error) {
	m := merging{o: o, r: &MergeReport{}, mergers: map[string]*merge.Merger{}, versions: map[string]storage.Version{}}
	if len(files) == 0 {
		return nil, errors.New("there are no files to merge")
	}
	if o.Compression != 0 {
		if err := compress.Settings(max(o.Compression, 0)).Check(); err != nil {
			return nil, err
		}
	}
	defer fault.RecoverInternal(&err)
	if o.Append {
		if err := m.openOld(ctx, location); err != nil {
			return nil, err
		}
		if m.old != nil {
			defer func() { err = errors.Join(err, m.old.Source().Close()) }()
		}
	}
	if err := m.each(ctx, files, m.add); err != nil {
		return nil, err
	}
	switch {
	case len(m.r.NTuples) > 0:
	case o.Name != "":
		return nil, fmt.Errorf("the files have no RNTuple %q", o.Name)
	default:
		return nil, rootfile.WithTreeHint(fmt.Errorf("the files have no RNTuple, but %s", strings.Join(m.r.LeftOut, ", ")), m.others)
	}
	for _, path := range m.r.NTuples {
		for _, field := range m.mergers[path].Missing() {
			m.r.Missing = append(m.r.Missing, path+"."+field)
		}
	}
	if o.DryRun {
		return m.r, nil
	}
	return m.r, m.write(ctx, location, files)
}

// merging is one call of [Merge].
type merging struct {
	o       MergeOptions
	r       *MergeReport
	mergers map[string]*merge.Merger // by the path of the ntuple
	others  []rootfile.Object        // that are left out
	done    int64

	versions map[string]storage.Version // of the files, which are opened once for each ntuple

	old        *rootfile.File // that is appended to, or nil
	oldVersion storage.Version
	continues  bool   // some ntuple of it
	maxKeySize uint64 // of these
}

// openOld opens the file that is appended to, if there is one.
func (m *merging) openOld(ctx context.Context, location string) error {
	store, err := storage.Of(m.o.Store, location)
	if err != nil {
		return err
	}
	m.old, m.oldVersion, err = openOld(ctx, store, location)
	return err
}

// begin begins the merger of the ntuples at a path. One of the file that is appended to is continued.
func (m *merging) begin(ctx context.Context, path string) (*merge.Merger, error) {
	to := merge.New(compress.Settings(max(m.o.Compression, 0)))
	o, ok := m.continued(path)
	if !ok {
		return to, nil
	}
	t, err := read.OpenObject(ctx, m.old, o, read.Options{})
	if err != nil {
		return nil, err
	}
	if k := t.Anchor().MaxKeySize; m.continues && k != m.maxKeySize {
		return nil, t.Located(fault.Unsupportedf("pieces of at most %d bytes, and of %d in another ntuple", k, m.maxKeySize))
	} else {
		m.continues, m.maxKeySize = true, k
	}
	return to, to.Continue(ctx, t)
}

// continued finds the ntuple at a path of the file that is appended to.
func (m *merging) continued(path string) (rootfile.Object, bool) {
	if m.old == nil {
		return rootfile.Object{}, false
	}
	all := m.old.NTuples()
	i := slices.IndexFunc(all, func(o rootfile.Object) bool { return o.Current && o.Path() == path })
	if i < 0 {
		return rootfile.Object{}, false
	}
	return all[i], true
}

// each calls do with each of the files.
func (m *merging) each(ctx context.Context, files []string, do func(ctx context.Context, f *rootfile.File) error) error {
	for _, location := range files {
		store, err := storage.Of(m.o.Store, location)
		if err != nil {
			return err
		}
		r, err := store.Open(ctx, location)
		if err != nil {
			return err
		}
		err = m.same(ctx, location, r)
		if err == nil {
			var f *rootfile.File
			if f, err = rootfile.Open(ctx, read.Count(r)); err == nil {
				err = do(ctx, f)
			}
		}
		if err = errors.Join(err, r.Close()); err != nil {
			return err
		}
	}
	return nil
}

// same fails for another version of a file than that of an earlier time.
func (m *merging) same(ctx context.Context, location string, r storage.Reader) error {
	v, err := r.Version(ctx)
	if errors.Is(err, errors.ErrUnsupported) {
		return nil
	}
	if known, ok := m.versions[location]; err == nil && ok && known != v {
		err = fmt.Errorf("%s: %w", r.Name(), storage.ErrChanged)
	}
	m.versions[location] = v
	return err
}

// add adds the ntuples of a file to what will be merged.
func (m *merging) add(ctx context.Context, f *rootfile.File) error {
	for _, o := range f.Objects() {
		path := o.Path()
		switch {
		case !o.Current || o.IsDirectory() || m.o.Name != "" && path != m.o.Name:
			continue
		case !o.IsNTuple():
			m.others = append(m.others, o)
			m.r.LeftOut = append(m.r.LeftOut, fmt.Sprintf("%s:%s (%s)", f.Name(), path, o.Key.Class))
			continue
		}
		t, err := read.OpenObject(ctx, f, o, read.Options{})
		if err != nil {
			return err
		}
		if m.mergers[path] == nil {
			if m.mergers[path], err = m.begin(ctx, path); err != nil {
				return err
			}
			m.r.NTuples = append(m.r.NTuples, path)
		}
		if err := m.mergers[path].Add(t); err != nil {
			return err
		}
		m.r.Entries += t.NumRows()
		for _, a := range t.Footer().Attributes {
			m.r.LeftOut = append(m.r.LeftOut, f.Name()+":"+read.AttributePath(path, a.Name))
		}
	}
	return nil
}

// write writes the file.
func (m *merging) write(ctx context.Context, location string, files []string) (err error) {
	store, err := storage.Of(m.o.Store, location)
	if err != nil {
		return err
	}
	out, err := store.Create(ctx, location, storage.CreateOptions{Overwrite: m.o.Overwrite || m.old != nil, IfMatch: m.oldVersion})
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, out.Abort(context.WithoutCancel(ctx)))
		}
	}()
	ro := rootfile.Options{Name: fileName(location), Compression: DefaultCompression, Time: m.o.Time, UUID: m.o.UUID, MaxKeySize: m.maxKeySize}
	file, err := rootfile.Append(ctx, out, m.old, ro)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	for _, path := range m.r.NTuples {
		if err := m.ntuple(ctx, file, path, files); err != nil {
			return err
		}
	}
	if err := file.Finish(ctx); err != nil {
		return err
	}
	return out.Publish(ctx)
}

// ntuple writes one of the ntuples.
func (m *merging) ntuple(ctx context.Context, file *rootfile.Writer, path string, files []string) error {
	to := m.mergers[path]
	if err := to.Begin(ctx, file, write.Options{Name: path, Program: defaultProgram, Compression: DefaultCompression, MaxKeySize: m.maxKeySize}); err != nil {
		return err
	}
	err := m.each(ctx, files, func(ctx context.Context, f *rootfile.File) error {
		all := f.NTuples()
		i := slices.IndexFunc(all, func(o rootfile.Object) bool { return o.Path() == path })
		if i < 0 {
			return nil
		}
		t, err := read.OpenObject(ctx, f, all[i], read.Options{})
		if err != nil {
			return err
		}
		return to.Copy(ctx, t, func(entries int64) {
			if m.done += entries; m.o.Progress != nil {
				m.o.Progress(m.done, m.r.Entries)
			}
		})
	})
	if err != nil {
		return err
	}
	m.r.Copied, m.r.Encoded = m.r.Copied+to.Copied, m.r.Encoded+to.Encoded
	if o, ok := m.continued(path); ok {
		if err := file.Drop(ctx, o); err != nil {
			return err
		}
	}
	return to.End(ctx)
}
