package inputs

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/amudai/amudai-go/internal/base/advice"
	"github.com/amudai/amudai-go/storage"
	"github.com/amudai/amudai-go/table/provider"
)

// ErrUnknown is the error of an input whose format neither its name nor its first bytes tell.
var ErrUnknown = errors.New("cannot tell the format")

// Finder finds and opens inputs.
type Finder struct {
	Formats provider.Formats // to choose from
	Format  string           // the name of the format of all inputs; "" to find it by name or first bytes
	Table   string           // the path of the table in inputs that hold several; may be ""
	Stdin   io.Reader        // the input "-"
	Notice  func(string)     // called with messages for the user
	Only    *provider.Format // reads whatever location by itself; may be nil
	One     bool             // there is one input, of whose end more is read at first
	// Versions are compared with those of the inputs; nil if an input may change from one opening to the next.
	Versions *Versions
	Kept     *Kept // what stays open; nil: nothing
}

// Open opens a location, and finds its format.
func (f *Finder) Open(ctx context.Context, location string) (provider.Input, provider.Format, error) {
	if f.Only != nil {
		return provider.Input{Name: location, Size: -1}, *f.Only, nil
	}
	format, named := f.Format, location
	if data, name, ok := f.folder(location); ok && (format == "" || format == name) {
		location, format = data, name
	}
	in, name, err := openLocation(ctx, location, f.Stdin, f.Formats, f.One, cmp.Or(f.Kept, nothing))
	if err != nil {
		return in, provider.Format{}, err
	}
	var chosen provider.Format
	if err = f.Versions.check(named, in.Version); err == nil {
		chosen, err = f.choose(&in, name, format)
	}
	if err == nil && format == "" {
		if chosen, err = f.claimed(ctx, in, chosen); err != nil {
			err = f.Explain(ctx, Missing(location, err), location, chosen)
		}
	}
	if err == nil && f.Table != "" {
		if in.Table != "" && in.Table != f.Table {
			err = advice.Errorf("leave out one of them", "%s names a table, and --table %s another one", location, f.Table)
		}
		in.Table = f.Table
	}
	if err != nil {
		err = errors.Join(err, in.Close())
	}
	return in, chosen, err
}

// folder returns the data file and the format of a folder that is one input.
func (f *Finder) folder(location string) (data, format string, ok bool) {
	if location == "-" || IsURL(location) {
		return "", "", false
	}
	for _, format := range f.Formats {
		if format.Folder == nil {
			continue
		}
		data := filepath.Join(location, format.Folder.Data)
		if info, err := os.Stat(data); err == nil && info.Mode().IsRegular() {
			return data, format.Name, true
		}
	}
	return "", "", false
}

// claimed is the format that claims an input within the format that it was found to have, or the latter.
func (f *Finder) claimed(ctx context.Context, in provider.Input, found provider.Format) (provider.Format, error) {
	for _, format := range f.Formats {
		if format.Within != found.Name {
			continue
		}
		claims, err := format.Claims(ctx, in)
		if err != nil {
			return found, err
		}
		if claims {
			f.Notice(fmt.Sprintf("%s is a %s: its rows are read; --from %s reads its columns", in.Name, format.Title, found.Name))
			return format, nil
		}
	}
	return found, nil
}

// ByName returns the format of a name.
func (f *Finder) ByName(name string) (provider.Format, error) {
	format, err := f.Formats.ByName(name)
	if err != nil {
		return format, advice.Errorf("", "%w", err)
	}
	return format, nil
}

// choose finds the format of an input. It may read the first bytes, which are not consumed.
func (f *Finder) choose(in *provider.Input, location, name string) (provider.Format, error) {
	if name != "" {
		return f.ByName(name)
	}
	named, ok := f.Formats.ByPath(location)
	if ok && !named.Inferred {
		return named, nil // whose readers refuse the bytes of other formats
	}
	head := make([]byte, provider.SniffBytes)
	if ok {
		head = head[:64]
	}
	n, err := io.ReadFull(in.Reader, head)
	if err != nil && err != io.ErrUnexpectedEOF && err != io.EOF {
		return provider.Format{}, err
	}
	head = head[:n]
	in.Reader = io.MultiReader(bytes.NewReader(head), in.Reader)
	found, known := f.Formats.Sniff(head)
	if ok && known && found.Certain { // almost any bytes are CSV; those of ROOT files begin with a word
		return found, advice.WithHint(fmt.Errorf("%s is not %s, it looks like %s", in.Name, named.Title, found.Title), "--from %s reads it", found.Name)
	}
	if ok {
		return named, nil
	}
	if !known {
		if location == "-" {
			location = in.Name
		}
		if err := provider.Foreign(location, head); err != nil {
			return found, err
		}
		return found, advice.Errorf("--from csv for a table, --from lines for a log, or one of "+strings.Join(f.Formats.Names(), ", "), "%w of %s", ErrUnknown, in.Name)
	}
	return found, nil
}

// Source opens an input in a format, which is that of a location.
func (f *Finder) Source(ctx context.Context, in provider.Input, format provider.Format, location string, o provider.ReadOptions) (provider.Source, error) {
	if !o.Filter.IsZero() {
		o.BatchRows = 0 // small batches would slow down a filter that few rows meet
	}
	src, err := format.Open(ctx, in, o)
	if err != nil {
		return nil, f.Explain(ctx, Missing(location, err), location, format)
	}
	return src, nil
}

// Explain adds the likely format of a file to an error about its content.
func (f *Finder) Explain(ctx context.Context, err error, location string, format provider.Format) error {
	if location == "-" || errors.Is(err, fs.ErrNotExist) || errors.Is(err, fs.ErrPermission) {
		return err
	}
	head, ferr := Head(ctx, location, provider.SniffBytes)
	if ferr != nil || format.Certain && format.Sniff(head) {
		return err
	}
	looks, known := f.Formats.Sniff(head)
	if foreign := provider.Foreign(storage.Redact(location), head); foreign != nil && !known {
		return foreign
	}
	if !known || looks.Name == format.Name || looks.Inferred && format.Inferred || strings.HasPrefix(looks.Name, format.Name) {
		return err
	}
	return advice.WithHint(err, "it looks like %s: --from %s", looks.Title, looks.Name)
}
