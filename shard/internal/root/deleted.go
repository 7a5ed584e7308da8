package root

import (
	"context"
	"slices"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/amudai/amudai-go/encoding"
	"github.com/amudai/amudai-go/internal/base/fault"
	"github.com/amudai/amudai-go/internal/engine/rowset"
	"github.com/amudai/amudai-go/internal/format/arrowmap"
	"github.com/amudai/amudai-go/internal/format/edition"
	"github.com/amudai/amudai-go/internal/format/schema"
	"github.com/amudai/amudai-go/shard/internal/shardwriter"
	"github.com/amudai/amudai-go/shard/internal/stripe"
	"github.com/amudai/amudai-go/shard/internal/stripe/write"
)

// WithDeleted is the root with other deleted records: those of each stripe, by their numbers in it (docs/format.md §4.1). changed is nil for stripes that stay as
// they are. The marker is stored for stripes with deleted records only.
func (r Root) WithDeleted(changed []*rowset.Set) (Root, error) {
	if r.Edition == edition.Reference {
		return r, fault.Unsupportedf("deleted records in a shard of edition reference, whose readers refuse them: convert it to edition 2026 first")
	}
	marker, err := r.Schema.Marker()
	if err != nil {
		return r, err
	}
	var id uint32
	if marker == nil {
		columns, err := r.Columns()
		if err != nil {
			return r, err
		}
		id = r.Schema.IDCount()
		columns = append(columns, Column{Field: markerField, ID: Missing, Built: Missing})
		if r, err = r.WithColumns(columns, nil); err != nil {
			return r, err
		}
	} else {
		id = marker.ID()
	}
	r.Stripes = slices.Clone(r.Stripes)
	for i, deleted := range changed {
		if deleted == nil {
			continue
		}
		s := &r.Stripes[i]
		s.Fields = s.all(r.Schema.IDCount())
		s.Deleted = uint64(deleted.Len())
		if s.Fields[id] = (shardwriter.Field{ID: Missing}); deleted.Empty() {
			continue
		}
		s.Fields[id].ID = 0 // the only field that is built
		s.Build = buildMarker(s.Of.Rows(), *deleted)
	}
	return r, nil
}

var markerField = schema.Field{Type: schema.Boolean, Internal: schema.InternalDeleted}

// markerRows is the number of rows whose marker is encoded at a time.
const markerRows = 64 << 10

// buildMarker builds the marker of the deleted records of a stripe.
func buildMarker(rows int64, deleted rowset.Set) Build {
	return func(ctx context.Context) (*stripe.Finished, error) {
		s := arrow.NewSchema([]arrow.Field{{Type: arrow.FixedWidthTypes.Boolean}}, nil)
		_, columns, err := arrowmap.FromArrow(s, arrowmap.Options{Features: edition.E2026.Features()})
		if err != nil {
			return nil, err
		}
		w, err := write.NewWriter(columns, write.Options{Encoding: encoding.Options{Features: edition.E2026.Features()}, Parallelism: 1})
		if err != nil {
			return nil, err
		}
		for from := int64(0); from < rows; from += markerRows {
			n := int(min(rows-from, markerRows))
			bits := make([]byte, (n+7)/8)
			deleted.PutBits(bits, 0, n, from)
			data := array.NewData(arrow.FixedWidthTypes.Boolean, n, []*memory.Buffer{nil, memory.NewBufferBytes(bits)}, nil, 0, 0)
			err := w.Write(ctx, []arrow.Array{array.NewBooleanData(data)}, n)
			data.Release()
			if err != nil {
				w.Close()
				return nil, err
			}
		}
		f, err := w.Finish(ctx)
		if err == nil {
			f.Features = f.Features.With(edition.DeletedRecords)
		}
		return f, err
	}
}
