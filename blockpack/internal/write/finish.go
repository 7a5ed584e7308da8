package write

import (
	"context"
	"slices"

	"github.com/amudai/amudai-go/blockpack/internal/layout"
	"github.com/amudai/amudai-go/blockpack/internal/ranges"
	"github.com/amudai/amudai-go/internal/base/fault"
)

// metadata gives the metadata section of a file with blocks of so many bytes, and sections with summaries.
func (w *Writer) metadata(blocks int64, sections ranges.Sections) (_ []byte, err error) {
	traces, err := w.traces.Append(nil)
	if err != nil {
		return nil, err
	}
	dst := layout.AppendBlockIndex(nil, w.blocks)
	if dst, err = w.appendRanges(dst, blocks, sections, layout.TraceSum(traces)); err != nil {
		return nil, err
	}
	dst = append(append(dst, w.columns...), traces...)
	if len(dst) > layout.MaxMetadata {
		return nil, fault.Limitf("%d bytes of metadata, at most %d are allowed", len(dst), layout.MaxMetadata)
	}
	return dst, nil
}

// appendRanges appends the range index. That of a file without blocks has not even a mark, so that such a file is the one that
// every writer makes.
func (w *Writer) appendRanges(dst []byte, blocks int64, sections ranges.Sections, traceSum string) ([]byte, error) {
	if len(w.blocks) == 0 {
		return append(dst, 0, 0, 0, 0), nil
	}
	return w.ranges.Finish(dst, blocks, w.o.Program, w.survey.Fields(), sections, traceSum)
}

// summaries writes what is said of whole traces, and gives the extents of its sections.
func (w *Writer) summaries(ctx context.Context) (ranges.Sections, error) {
	if w.o.Program == "" { // no mark, no list of sections
		return nil, nil
	}
	sections, err := w.summary.Sections(w.traces.Order())
	if err != nil {
		return nil, err
	}
	extents := ranges.Sections{}
	for _, kind := range ranges.SectionNames {
		for _, s := range sections[kind.Column] {
			extents[kind.Column] = append(extents[kind.Column], ranges.Extent{Offset: w.out.Size(), Length: int64(len(s))})
			if err := w.out.Write(ctx, s); err != nil {
				return nil, err
			}
		}
	}
	return extents, nil
}

// Finish writes the blocks that are left, indexes and footer.
//
//	blocks │ summaries │ header │ metadata │ compact index │ footer      without blocks: metadata │ header │ …
func (w *Writer) Finish(ctx context.Context) error {
	if err := w.Flush(ctx); err != nil {
		return err
	}
	blocks := w.out.Size()
	sections, err := w.summaries(ctx)
	if err != nil {
		return err
	}
	metadata, err := w.metadata(blocks, sections)
	if err != nil {
		return err
	}
	h := layout.Header{Version: layout.Version11, MetadataLength: int64(len(metadata))}
	f := layout.Footer{HeaderOffset: w.out.Size()}
	h.MetadataOffset = f.HeaderOffset + layout.HeaderSize
	if len(w.blocks) == 0 { // other readers do not open a file whose header is at 0
		h.MetadataOffset, f.HeaderOffset = f.HeaderOffset, int64(len(metadata))
	}
	parts := [][]byte{layout.AppendHeader(nil, h), metadata}
	if len(w.blocks) == 0 {
		slices.Reverse(parts)
	}
	compact, err := w.compactIndex()
	if err != nil {
		return err
	}
	if len(compact) > 0 {
		f.CompactOffset, f.CompactLength = w.out.Size()+h.MetadataLength+layout.HeaderSize, int64(len(compact))
	}
	for _, part := range append(parts, compact, layout.AppendFooter(nil, f)) {
		if err := w.out.Write(ctx, part); err != nil {
			return err
		}
	}
	return nil
}

// compactIndex gives the compact index, nothing if it would be longer than readers accept.
func (w *Writer) compactIndex() ([]byte, error) {
	compact, err := layout.AppendCompact(nil, w.blocks, &w.traces)
	if len(compact) > layout.MaxCompactBytes {
		return nil, err
	}
	return compact, err
}
