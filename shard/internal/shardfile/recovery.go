package shardfile

import (
	"context"
	"encoding/binary"
	"errors"
	"math"

	"google.golang.org/protobuf/proto"

	commonpb "github.com/amudai/amudai-go/gen/amudai/common"
	shardpb "github.com/amudai/amudai-go/gen/amudai/shard"
	"github.com/amudai/amudai-go/internal/base/fault"
	"github.com/amudai/amudai-go/internal/base/seq"
	"github.com/amudai/amudai-go/internal/format/container"
	"github.com/amudai/amudai-go/shard/internal/message"
	"github.com/amudai/amudai-go/shard/internal/recovery"
)

// record is a recovery record with its messages decoded.
type record struct {
	stripe     uint32
	end        int64 // of its frame
	schema     Range // frame of the schema
	directory  *shardpb.StripeDirectory
	properties *shardpb.ShardProperties
}

func decodeRecord(b []byte, position int64) (*record, error) {
	found, err := recovery.Parse(b, position)
	if err != nil {
		return nil, err
	}
	r := &record{
		stripe: found.Stripe, schema: Range{found.SchemaStart, found.SchemaEnd},
		directory: &shardpb.StripeDirectory{}, properties: &shardpb.ShardProperties{},
	}
	if err := message.Decode(found.Directory, r.directory); err != nil {
		return nil, err
	}
	if r.directory.TotalRecordCount > math.MaxInt64/2 {
		return nil, fault.Corruptf("%d records in a stripe", r.directory.TotalRecordCount)
	}
	return r, message.Decode(found.Properties, r.properties)
}

// Found describes the recovery records that [OpenUnfinished] found.
type Found struct {
	Records int   // valid recovery records
	Damaged int   // places with the magic of a recovery record but without a valid one
	Missing []int // stripes without a record, by number in their shard, up to the last one found
	// Left is the number of bytes after the last record. Complete means that they begin with the stripe list, and that it has no stripe after the last one found.
	Left     int64
	Complete bool
}

// OpenUnfinished opens the remains of the shards in an artifact whose end is missing or damaged: the stripes with a recovery record. They are numbered anew, and may be
// incomplete, so that the caller must check all of their bytes. The shards have no descriptors of their own. The error wraps fault.ErrCorrupt if no record was found.
func OpenUnfinished(ctx context.Context, location string, o OpenOptions) (all []*File, found *Found, err error) {
	if err := o.setDefaults(location); err != nil {
		return nil, nil, err
	}
	found = &Found{}
	shards := [][]*record{nil} // until the first file finds them
	for i := 0; err == nil && i < len(shards); i++ {
		var f *File
		if f, err = openRoot(ctx, location, o); err != nil {
			break
		}
		if all = append(all, f); i == 0 {
			shards, err = f.records(ctx, found)
		}
		if err == nil {
			err = f.found(ctx, shards[i], found)
		}
	}
	if err != nil {
		return nil, nil, errors.Join(err, seq.CloseAll(all))
	}
	return all, found, nil
}

// MaxPacked is the number of shards of an artifact that are open at once.
const MaxPacked = 1024

// records reads the whole artifact for the records of each shard.
func (f *File) records(ctx context.Context, found *Found) (shards [][]*record, err error) {
	var last *record
	err = recovery.Find(ctx, f.root, func(at int64) error {
		r, err := f.readRecord(ctx, at)
		switch {
		case err == nil && (last == nil || r.schema.Start >= last.end): // of the next shard
			if shards = append(shards, nil); len(shards) > MaxPacked {
				return fault.Of(fault.Limitf("more than %d shards in one file", MaxPacked), f.root.Name())
			}
		case err == nil && (r.schema != last.schema || r.stripe <= last.stripe): // of no shard in the artifact
			return nil
		case errors.Is(err, fault.ErrCorrupt) || errors.Is(err, fault.ErrChecksum) || errors.Is(err, fault.ErrUnsupported):
			found.Damaged++
			return nil
		case err != nil:
			return err
		}
		found.Records++
		shards[len(shards)-1], last = append(shards[len(shards)-1], r), r
		return nil
	})
	if err == nil && last == nil {
		err = fault.Of(fault.Corruptf("no recovery record among %d bytes", f.root.size), f.root.Name())
	}
	if err == nil {
		err = f.left(ctx, last, found)
	}
	return shards, err
}

// found builds the directory of a shard from its records.
func (f *File) found(ctx context.Context, records []*record, found *Found) error {
	last := records[len(records)-1]
	f.directory = &shardpb.ShardDirectory{SchemaRef: rootRef(last.schema), StripeCount: uint64(len(records))}
	f.properties.Store(last.properties)
	position, next := int64(0), 0
	for i, r := range records {
		for ; next < int(r.stripe) && len(found.Missing) < len(records)+1000; next++ {
			found.Missing = append(found.Missing, next)
		}
		next = int(r.stripe) + 1
		d := proto.Clone(r.directory).(*shardpb.StripeDirectory)
		if int64(d.TotalRecordCount) > math.MaxInt64-position {
			return fault.Of(fault.Corruptf("recovery records have too many rows"), f.root.Name())
		}
		d.ShardPosition = uint64(position)
		f.stripes = append(f.stripes, &Stripe{f: f, index: i, directory: d, anchor: f.root, position: position})
		position += int64(d.TotalRecordCount)
	}
	f.directory.TotalRecordCount = uint64(position)
	_, err := f.Schema(ctx)
	return err
}

// rootRef makes a reference to bytes of the root artifact.
func rootRef(r Range) *commonpb.DataRef {
	return &commonpb.DataRef{Range: &commonpb.UInt64Range{Start: uint64(r.Start), End: uint64(r.End)}}
}

// readRecord reads the record whose magic is at offset at.
func (f *File) readRecord(ctx context.Context, at int64) (*record, error) {
	start := at - lengthSize
	if start < 0 {
		return nil, fault.Corruptf("not a recovery record")
	}
	b, err := f.frameAt(ctx, start, recovery.MaxSize)
	if err != nil {
		return nil, err
	}
	payload, err := container.ParseFrame(b)
	if err != nil {
		return nil, err
	}
	r, err := decodeRecord(payload, start)
	if err == nil {
		r.end = start + int64(len(b))
	}
	return r, err
}

// frameAt reads a frame of the root, whose payload has at most so many bytes. Its content is not checked.
func (f *File) frameAt(ctx context.Context, start, most int64) ([]byte, error) {
	b, err := f.root.read(ctx, start, start+lengthSize)
	if err != nil {
		return nil, err
	}
	n := int64(binary.LittleEndian.Uint32(b))
	if n > most {
		return nil, fault.Corruptf("frame of %d bytes", n)
	}
	return f.root.read(ctx, start, start+n+container.FrameExtra)
}

// left examines the bytes after the last record. The stripe list is first there if the writer had written all stripes.
func (f *File) left(ctx context.Context, last *record, found *Found) error {
	found.Left = f.root.size - last.end
	if found.Left < container.FrameExtra {
		return nil
	}
	b, err := f.frameAt(ctx, last.end, min(found.Left-container.FrameExtra, f.o.MaxMessageBytes))
	if err != nil && !fault.Is(err) {
		return err
	}
	var list shardpb.StripeList
	if payload, err := container.ParseFrame(b); err == nil && message.Decode(payload, &list) == nil {
		found.Complete = len(list.Stripes) == int(last.stripe)+1
	}
	return nil // unknown bytes
}
