package shardfile

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"math"

	"google.golang.org/protobuf/proto"

	shardpb "github.com/amudai/amudai-go/gen/amudai/shard"
	"github.com/amudai/amudai-go/internal/base/fault"
	"github.com/amudai/amudai-go/internal/format/container"
	"github.com/amudai/amudai-go/storage"
)

// A recovery record follows every stripe in the root artifact, framed like a
// message. Nothing refers to it and readers never see it: it is for [Recover],
// which finds it by its magic and needs nothing that is written later
// (docs/format.md §2.7).
//
//	0   16  magic                8a "amudai-recover" 0a
//	16  2   version, u16         1
//	18  2   zero
//	20  4   number of the stripe, u32, from 0
//	24  8   position of this record's frame in the artifact, u64
//	32  8   schema message: start of its frame, u64
//	40  8   schema message: end of its frame, u64
//	48  4   bytes of the StripeDirectory, u32
//	52  4   bytes of the ShardProperties, u32
//	56      StripeDirectory, as in the StripeList
//	        ShardProperties, as known when the stripe was written
//
// Numbers are little-endian. The position tells a record from a copy of one that
// lies in the data, for example where a column holds the bytes of other shards.
// The first record of a shard with a schema frame of 8..120:
//
//	8a616d75 6461692d 7265636f 7665720a 0100 0000 00000000 <position>
//	08000000 00000000 78000000 00000000 23000000 4b000000 <35 bytes> <75 bytes>
const (
	recoveryMagic   = "\x8aamudai-recover\n"
	recoveryVersion = 1
	recoveryHeader  = 56
	// maxRecovery bounds a record; properties are its only long part.
	maxRecovery = 64 << 20
)

// writeRecovery appends the record of the stripe just written.
func (w *Writer) writeRecovery(d *shardpb.StripeDirectory) error {
	properties, err := w.properties()
	if err != nil {
		return err
	}
	directory, err := marshal.Marshal(d)
	if err != nil {
		return err
	}
	props, err := marshal.Marshal(properties)
	if err != nil {
		return err
	}
	le := binary.LittleEndian
	b := append(make([]byte, 0, recoveryHeader+len(directory)+len(props)), recoveryMagic...)
	b = le.AppendUint16(b, recoveryVersion)
	b = le.AppendUint16(b, 0)
	b = le.AppendUint32(b, uint32(len(w.stripes)-1))
	b = le.AppendUint64(b, uint64(w.out.Size()))
	b = le.AppendUint64(b, uint64(w.schema.Start))
	b = le.AppendUint64(b, uint64(w.schema.End))
	b = le.AppendUint32(b, uint32(len(directory)))
	b = le.AppendUint32(b, uint32(len(props)))
	b = append(append(b, directory...), props...)
	_, err = w.writeFrame(b)
	return err
}

// record is a recovery record that was found.
type record struct {
	sequence   uint32
	end        int64 // of its frame
	schema     Range
	directory  *shardpb.StripeDirectory
	properties *shardpb.ShardProperties
}

// parseRecord reads the payload of the frame at position.
func parseRecord(b []byte, position int64) (*record, error) {
	le := binary.LittleEndian
	if len(b) < recoveryHeader || string(b[:16]) != recoveryMagic || le.Uint64(b[24:]) != uint64(position) {
		return nil, fault.Corruptf("not a recovery record")
	}
	if v := le.Uint16(b[16:]); v != recoveryVersion {
		return nil, fault.Unsupportedf("recovery record of version %d", v)
	}
	start, end := le.Uint64(b[32:]), le.Uint64(b[40:])
	n, m, rest := uint64(le.Uint32(b[48:])), uint64(le.Uint32(b[52:])), b[recoveryHeader:]
	if start > end || end > uint64(position) || n+m != uint64(len(rest)) {
		return nil, fault.Corruptf("recovery record does not add up")
	}
	r := &record{
		sequence: le.Uint32(b[20:]), schema: Range{int64(start), int64(end)},
		directory: &shardpb.StripeDirectory{}, properties: &shardpb.ShardProperties{},
	}
	if err := decode(rest[:n], r.directory); err != nil {
		return nil, err
	}
	if r.directory.TotalRecordCount > math.MaxInt64/2 {
		return nil, fault.Corruptf("%d records in a stripe", r.directory.TotalRecordCount)
	}
	return r, decode(rest[n:], r.properties)
}

// Found is what [OpenUnfinished] found besides the stripes.
type Found struct {
	// Records is the number of recovery records that check out.
	Records int
	// Damaged is the number of places that look like a recovery record and do not
	// check out.
	Damaged int
	// Missing lists the numbers of stripes, below the last one found, of which
	// there is no record.
	Missing []int
	// Foreign is the number of records of other shards in the same artifact.
	Foreign int
	// Left is the number of bytes behind the last record. Complete says that they
	// begin with the list of the stripes, and that there was no stripe behind the
	// last one found.
	Left     int64
	Complete bool
}

// OpenUnfinished opens what is left of a shard whose end is missing or damaged:
// the stripes of which a recovery record is found. The stripes are numbered
// anew. They are not known to be complete; whoever uses them must check all of
// their bytes. The shard has no descriptors of its own.
//
// The error wraps fault.ErrCorrupt if there is no record.
func OpenUnfinished(ctx context.Context, location string, o OpenOptions) (*File, *Found, error) {
	if err := o.setDefaults(location); err != nil {
		return nil, nil, err
	}
	f, err := openRoot(ctx, location, o)
	if err != nil {
		return nil, nil, err
	}
	found := &Found{}
	err = f.scan(ctx, found)
	if err == nil {
		_, err = f.Schema(ctx)
	}
	if err != nil {
		return nil, nil, errors.Join(err, f.Close())
	}
	return f, found, nil
}

// scan reads the whole artifact and builds the directory from the records.
func (f *File) scan(ctx context.Context, found *Found) error {
	var records []*record
	err := findMagic(ctx, f.root, func(at int64) error {
		r, err := f.readRecord(ctx, at)
		switch {
		case err == nil && len(records) > 0 && (r.schema != records[0].schema || r.sequence <= records[len(records)-1].sequence):
			found.Foreign++
		case err == nil:
			records = append(records, r)
		case errors.Is(err, fault.ErrCorrupt) || errors.Is(err, fault.ErrChecksum) || errors.Is(err, fault.ErrUnsupported):
			found.Damaged++
		default:
			return err
		}
		return nil
	})
	if err != nil {
		return err
	}
	found.Records = len(records)
	if len(records) == 0 {
		return fault.Of(fault.Corruptf("no recovery record among %d bytes", f.root.size), f.root.Name())
	}
	last := records[len(records)-1]
	if err := f.left(ctx, last, found); err != nil {
		return err
	}
	f.directory = &shardpb.ShardDirectory{SchemaRef: selfRef(last.schema), StripeCount: uint64(len(records))}
	f.properties = last.properties
	position, next := int64(0), 0
	for i, r := range records {
		for ; next < int(r.sequence) && len(found.Missing) < len(records)+1000; next++ {
			found.Missing = append(found.Missing, next)
		}
		next = int(r.sequence) + 1
		d := proto.Clone(r.directory).(*shardpb.StripeDirectory)
		if int64(d.TotalRecordCount) > math.MaxInt64-position {
			return fault.Of(fault.Corruptf("recovery records have too many rows"), f.root.Name())
		}
		d.ShardPosition = uint64(position)
		f.stripes = append(f.stripes, &Stripe{f: f, index: i, directory: d, anchor: f.root, position: position})
		position += int64(d.TotalRecordCount)
	}
	f.directory.TotalRecordCount = uint64(position)
	return nil
}

// readRecord reads the record whose magic is at offset at.
func (f *File) readRecord(ctx context.Context, at int64) (*record, error) {
	start := at - lengthSize
	if start < 0 {
		return nil, fault.Corruptf("not a recovery record")
	}
	b, err := f.root.read(ctx, start, at)
	if err != nil {
		return nil, err
	}
	n := int64(binary.LittleEndian.Uint32(b))
	if n > maxRecovery {
		return nil, fault.Corruptf("not a recovery record")
	}
	if b, err = f.root.read(ctx, start, start+n+container.FrameExtra); err != nil {
		return nil, err
	}
	payload, err := container.ParseFrame(b)
	if err != nil {
		return nil, err
	}
	r, err := parseRecord(payload, start)
	if err == nil {
		r.end = start + n + container.FrameExtra
	}
	return r, err
}

// left looks at what stands behind the last record. The stripe list comes first there if the
// shard's writer had written all stripes.
func (f *File) left(ctx context.Context, last *record, found *Found) error {
	found.Left = f.root.size - last.end
	start := last.end
	if found.Left < container.FrameExtra {
		return nil
	}
	b, err := f.root.read(ctx, start, start+lengthSize)
	if err != nil {
		return err
	}
	n := int64(binary.LittleEndian.Uint32(b))
	if n > min(found.Left-container.FrameExtra, f.o.MaxMessageBytes) {
		return nil
	}
	if b, err = f.root.read(ctx, start, start+n+container.FrameExtra); err != nil {
		return err
	}
	payload, err := container.ParseFrame(b)
	var list shardpb.StripeList
	if err == nil && decode(payload, &list) == nil {
		found.Complete = len(list.Stripes) == int(last.sequence)+1
	}
	return nil // something else, which nothing is known of
}

// findMagic calls found with the offset of every recovery magic, in order.
func findMagic(ctx context.Context, r storage.Reader, found func(at int64) error) error {
	size, err := r.Size(ctx)
	if err != nil {
		return err
	}
	const overlap = len(recoveryMagic) - 1
	buf := make([]byte, min(size, 1<<20))
	for at := int64(0); at+int64(overlap) < size; at += int64(len(buf) - overlap) {
		b := buf[:min(int64(len(buf)), size-at)]
		if err := r.ReadAt(ctx, b, at); err != nil {
			return err
		}
		for from := 0; ; {
			i := bytes.Index(b[from:], []byte(recoveryMagic))
			if i < 0 {
				break
			}
			if err := found(at + int64(from+i)); err != nil {
				return err
			}
			from += i + 1
		}
	}
	return nil
}
