package tempo

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"strings"

	"github.com/amudai/amudai-go/blockpack/otlp"
	"github.com/amudai/amudai-go/internal/base/fault"
	"github.com/amudai/amudai-go/storage"
	"github.com/amudai/amudai-go/table/parquet"
	"github.com/amudai/amudai-go/table/provider"
)

// FormatOptions are those of [New]. The zero value is the default.
type FormatOptions struct {
	// Spans are options about the spans.
	Spans otlp.FormatOptions
}

func init() { provider.Register(New(FormatOptions{})) }

// New is the format of package provider for blocks, which can be read. The input is the file data.parquet. The file meta.json beside it
// names attributes, if the input has a location. As Parquet is another format, a block is not found by its first bytes: see [IsBlock].
func New(o FormatOptions) provider.Format {
	spans := otlp.New(o.Spans)
	return provider.Format{
		Name: "tempo", Title: "Tempo block", Sparse: spans.Sparse, Keys: spans.Keys,
		Folder: &provider.Folder{Data: DataFile, Mark: MetaFile}, Within: "parquet", Claims: IsBlockFile,
		Reader: func(ctx context.Context, in provider.Input, ro provider.ReadOptions) (provider.Source, error) {
			return openSource(ctx, in, ro.WithDefaults(), o)
		},
	}
}

func openSource(ctx context.Context, in provider.Input, ro provider.ReadOptions, o FormatOptions) (provider.Source, error) {
	meta, err := readMeta(ctx, in)
	if err != nil {
		return nil, errors.Join(err, in.Close())
	}
	again := in
	again.Closer = nil
	var temp *provider.Spooled
	if in.At == nil || in.Size < 0 {
		if temp, err = provider.Spool(in.Reader, ro.TempDir); err != nil {
			return nil, errors.Join(err, in.Close())
		}
		again.At, again.Size = temp, temp.Size()
	}
	told := map[string]bool{}
	notice := func(text string) {
		if !told[text] {
			ro.Warning(text)
		}
		told[text] = true
	}
	return otlp.NewSource(ctx, otlp.Input{
		Name: in.Name,
		Open: func(ctx context.Context) (otlp.MessageReader, error) {
			return Open(ctx, again, Options{Meta: meta, Notice: notice, Allocator: ro.Allocator, TempDir: ro.TempDir})
		},
		Close: func() error { return errors.Join(temp.Close(), in.Close()) },
	}, ro, o.Spans)
}

// maxMeta is the largest file meta.json in bytes.
const maxMeta = 16 << 20

// readMeta reads the file meta.json beside an input. It is nil if there is none.
func readMeta(ctx context.Context, in provider.Input) (_ []byte, err error) {
	if in.Location == "" {
		return nil, nil
	}
	location := in.Location[:strings.LastIndexAny(in.Location, `/\\`)+1] + MetaFile
	store := in.Store
	if store == nil {
		if store, err = storage.ForLocation(location); err != nil {
			return nil, err
		}
	}
	r, err := store.Open(ctx, location)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", MetaFile, err)
	}
	defer func() { err = errors.Join(err, r.Close()) }()
	meta, size, err := r.ReadSuffix(ctx, maxMeta)
	if errors.Is(err, fs.ErrNotExist) { // of a store that did not look when it was opened
		return nil, nil
	}
	if err == nil && size > maxMeta {
		err = fmt.Errorf("%d bytes are more than %d", size, maxMeta)
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", location, err)
	}
	return meta, nil
}

// IsBlockFile reports whether a Parquet file is the data of a block. It does not close the input. A pipe is not looked at, and a damaged
// file is none. The error is one of reading.
func IsBlockFile(ctx context.Context, in provider.Input) (bool, error) {
	if in.At == nil || in.Size < 0 {
		return false, nil
	}
	in.Closer, in.Reader = nil, io.NewSectionReader(in.At, 0, in.Size)
	src, err := parquet.New(parquet.Options{}).Open(ctx, in, provider.ReadOptions{})
	if fault.Is(err) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	return IsBlock(src.Schema()), src.Close()
}
