package shardwriter

import (
	"bytes"
	"context"
	"io"

	"google.golang.org/protobuf/proto"

	commonpb "github.com/amudai/amudai-go/gen/amudai/common"
	shardpb "github.com/amudai/amudai-go/gen/amudai/shard"
	"github.com/amudai/amudai-go/internal/format/container"
	"github.com/amudai/amudai-go/shard/internal/shardfile"
	"github.com/amudai/amudai-go/storage"
)

// IndexSuffix ends the names of files of indexes.
const IndexSuffix = ".amudai.index"

// WriteArtifact writes bytes of an index, of which there are size, and returns the reference to them. They go to the root or, in
// the two-level layout, to a file beside it that is named after its content: as they are if they are a whole artifact, such as a shard. content is called several times, and
// always writes the same. After an error the shard can only be aborted.
func (w *Writer) WriteArtifact(ctx context.Context, size int64, content func(io.Writer) error) (*commonpb.DataRef, error) {
	if err := w.usable(); err != nil {
		return nil, err
	}
	if w.o.Layout == TwoLevel {
		file, r := func(out io.Writer) error { return content(contextWriter{ctx, out}) }, shardfile.Range{End: size}
		if !startsArtifact(content) {
			file, r = framed(file), shardfile.Range{Start: container.MarkSize, End: container.MarkSize + size}
		}
		name, err := w.writeNamed(ctx, "", IndexSuffix, file)
		if err != nil {
			return nil, w.fail(err)
		}
		return dataRef(name, r), nil
	}
	start := w.out.Size()
	if err := content(contextWriter{ctx, &storage.IOWriter{Context: ctx, Writer: w.out}}); err != nil {
		return nil, w.fail(err)
	}
	return selfRef(shardfile.Range{Start: start, End: start + size}), nil
}

// startsArtifact reports whether content is an artifact by itself, such as a shard, which has a header and a footer already.
func startsArtifact(content func(io.Writer) error) bool {
	var h header
	_ = content(&h) // it fails as soon as the header is there
	return bytes.Equal(h.bytes, container.Mark[:])
}

// header takes as many bytes as a header has.
type header struct{ bytes []byte }

func (h *header) Write(p []byte) (int, error) {
	n := min(len(p), container.MarkSize-len(h.bytes))
	h.bytes = append(h.bytes, p[:n]...)
	if len(h.bytes) == container.MarkSize {
		return n, io.ErrShortWrite
	}
	return n, nil
}

// AddIndex describes an index of the shard. Its artifacts are those of [Writer.WriteArtifact], or of other files.
func (w *Writer) AddIndex(d *shardpb.IndexDescriptor) {
	w.listURLs(d)
	w.indexes = append(w.indexes, d)
}

// listURLs adds the files of indexes to the list of the shard's artifacts.
func (w *Writer) listURLs(indexes ...*shardpb.IndexDescriptor) {
	for _, d := range indexes {
		for _, a := range d.Artifacts {
			if url := a.GetDataRef().GetUrl(); url != "" {
				w.urls[url] = true
			}
		}
	}
}

// CopyIndex copies the artifacts of an index of another shard, or with a number other than fault.None of one of its stripes, and returns its
// description for this one. Its rows must be the same.
func (w *Writer) CopyIndex(ctx context.Context, src *shardfile.File, stripe int, d *shardpb.IndexDescriptor) (*shardpb.IndexDescriptor, error) {
	d = proto.Clone(d).(*shardpb.IndexDescriptor)
	for _, a := range d.Artifacts {
		from, err := src.IndexArtifact(ctx, stripe, a.GetDataRef())
		if err != nil {
			return nil, err
		}
		a.DataRef, err = w.WriteArtifact(ctx, from.Size, func(out io.Writer) error {
			return CopyRange(ctx, out, from.Reader, shardfile.Range{Start: from.Offset, End: from.Offset + from.Size})
		})
		if err != nil {
			return nil, err
		}
	}
	return d, nil
}
