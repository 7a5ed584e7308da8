package write

import (
	"bytes"
	"slices"

	"google.golang.org/protobuf/proto"

	shardpb "github.com/amudai/amudai-go/gen/amudai/shard"
	"github.com/amudai/amudai-go/internal/format/edition"
	"github.com/amudai/amudai-go/shard/internal/stripe"
	"github.com/amudai/amudai-go/storage"
)

// join adds the encodings of a stripe with the same rows to those of f. It releases what is not added, because it
//   - says nothing new, as range indexes and equal buffers;
//   - or would need another descriptor: its dictionary_size tells readers of all encodings that the values are codes.
func join(f, other *stripe.Finished) error {
	joined := false
	defer other.Release()
	for i := range f.Nodes {
		n, o := &f.Nodes[i], &other.Nodes[i]
		if len(n.Buffers) == 0 || len(o.Buffers) == 0 || !equal(n.Field.DictionarySize, o.Field.DictionarySize) {
			continue
		}
		same, err := sameBuffers(withoutRanges(n.Buffers), withoutRanges(o.Buffers))
		if err != nil {
			return err
		}
		if !same {
			n.Alternative, joined = withoutRanges(o.Buffers), true
			o.Buffers = slices.DeleteFunc(o.Buffers, func(b stripe.Buffer) bool { return !isRanges(b) })
		}
	}
	if joined {
		f.Features |= other.Features.With(edition.Alternatives)
	}
	return nil
}

func equal(a, b *uint64) bool {
	return a == b || a != nil && b != nil && *a == *b
}

func isRanges(b stripe.Buffer) bool { return b.Desc.Kind == shardpb.BufferKind_RANGE_INDEX }

func withoutRanges(buffers []stripe.Buffer) []stripe.Buffer {
	return slices.DeleteFunc(slices.Clone(buffers), isRanges)
}

func sameBuffers(a, b []stripe.Buffer) (bool, error) {
	if len(a) != len(b) {
		return false, nil
	}
	for i := range a {
		if !proto.Equal(a[i].Desc, b[i].Desc) || a[i].MapOffset != b[i].MapOffset {
			return false, nil
		}
		if same, err := sameBytes(a[i].Data, b[i].Data); err != nil || !same {
			return false, err
		}
	}
	return true, nil
}

func sameBytes(a, b *storage.Spool) (bool, error) {
	if a.Size() != b.Size() {
		return false, nil
	}
	var chunks [2][32 << 10]byte
	for at := int64(0); at < a.Size(); at += int64(len(chunks[0])) {
		n := min(int64(len(chunks[0])), a.Size()-at)
		for i, s := range []*storage.Spool{a, b} {
			if _, err := s.ReadAt(chunks[i][:n], at); err != nil {
				return false, err
			}
		}
		if !bytes.Equal(chunks[0][:n], chunks[1][:n]) {
			return false, nil
		}
	}
	return true, nil
}
