package gen

import (
	"bytes"
	"encoding/binary"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/zeebo/xxh3"
	"google.golang.org/protobuf/proto"

	commonpb "github.com/amudai/amudai-go/gen/amudai/common"
	shardpb "github.com/amudai/amudai-go/gen/amudai/shard"
	"github.com/amudai/amudai-go/internal/testing/testdata"
)

// The walk reads the footer, the ShardDirectory and all messages it refers to, and for each stripe the field list and
// all messages it refers to. It parses the container by itself, independently of the packages under test.
func TestDefinitionsDecodeTheGoldens(t *testing.T) {
	folder := testdata.Goldens(t)
	w := &walk{protobuf: newDecoder(t), schemas: newSchemaDecoder(t)}
	shards := 0
	err := filepath.WalkDir(folder, func(path string, entry fs.DirEntry, err error) error {
		if name := strings.TrimSuffix(entry.Name(), ".gz"); err == nil && strings.HasSuffix(name, ".shard") {
			shards++
			w.shard(t, path)
		}
		return err
	})
	require.NoError(t, err)
	if testdata.AllGoldens(t) {
		require.GreaterOrEqual(t, shards, 100)
	}

	t.Logf("%d shards", shards)
	for name, count := range w.protobuf.messages {
		t.Logf("%7d %s", count, name)
	}
	require.Len(t, w.protobuf.messages, 8, "kinds of messages that refs lead to")
	t.Logf("%7d FlatBuffers schemas with %d type nodes", shards, w.schemas.tables["DataType"])
	t.Logf("protobuf fields that no golden holds: %s", strings.Join(w.protobuf.unseen(), " "))
	t.Logf("FlatBuffers fields that no golden holds: %s", strings.Join(w.schemas.unseen(), " "))
}

type walk struct {
	protobuf *decoder
	schemas  *schemaDecoder
}

// artifact is a file of the current shard.
type artifact struct {
	path string
	data []byte
}

func open(t *testing.T, path string) artifact {
	t.Helper()
	data, err := os.ReadFile(path)
	require.NoError(t, err)
	if strings.HasSuffix(path, ".gz") {
		data = testdata.Gunzip(t, data)
	}
	return artifact{path, data}
}

// The tail of the root artifact:
//
//	u32 length, ShardDirectory, u32 checksum, u32 length, footer of 8 bytes
func (w *walk) shard(t *testing.T, path string) {
	t.Helper()
	root := open(t, path)
	end := len(root.data) - 12
	length := int(binary.LittleEndian.Uint32(root.data[end:]))
	directory := decode(t, w.protobuf, frame(t, root.data[end-8-length:end]), &shardpb.ShardDirectory{})

	nodes := w.schemas.decode(t, w.payload(t, root, directory.SchemaRef))
	follow(t, w, root, directory.PropertiesRef, &shardpb.ShardProperties{})
	follow(t, w, root, directory.UrlListRef, &shardpb.UrlList{})
	follow(t, w, root, directory.IndexesRef, &shardpb.IndexCollection{})
	w.fields(t, root, directory.FieldListRef, nodes, func() proto.Message { return &shardpb.FieldDescriptor{} })

	stripes := follow(t, w, root, directory.StripeListRef, &shardpb.StripeList{})
	require.Len(t, stripes.Stripes, int(directory.StripeCount))
	for _, stripe := range stripes.Stripes {
		follow(t, w, root, stripe.PropertiesRef, &shardpb.StripeProperties{})
		follow(t, w, root, stripe.IndexesRef, &shardpb.IndexCollection{})
		w.fields(t, root, stripe.FieldListRef, nodes, func() proto.Message { return &shardpb.StripeFieldDescriptor{} })
	}
}

// fields reads a field list and its descriptors.
func (w *walk) fields(t *testing.T, root artifact, list *commonpb.DataRef, nodes int, descriptor func() proto.Message) {
	t.Helper()
	refs := follow(t, w, root, list, &commonpb.DataRefArray{})
	require.LessOrEqual(t, len(refs.Start), nodes)
	require.Len(t, refs.End, len(refs.Start))
	require.Len(t, refs.Url, len(refs.Start))
	for i, url := range refs.Url {
		if strings.HasPrefix(url, "file://") {
			url = "" // the reference writes the first location of the root, see docs/format.md §2.5
		}
		follow(t, w, root, &commonpb.DataRef{
			Url:   url,
			Range: &commonpb.UInt64Range{Start: refs.Start[i], End: refs.End[i]},
		}, descriptor())
	}
}

// follow decodes the message of a reference. Without a reference, the message stays empty.
func follow[M proto.Message](t *testing.T, w *walk, root artifact, ref *commonpb.DataRef, message M) M {
	t.Helper()
	if ref.GetRange().GetStart() == ref.GetRange().GetEnd() {
		return message
	}
	return decode(t, w.protobuf, w.payload(t, root, ref), message)
}

func (w *walk) payload(t *testing.T, root artifact, ref *commonpb.DataRef) []byte {
	t.Helper()
	from := root
	if ref.Url != "" {
		from = open(t, filepath.Join(filepath.Dir(root.path), filepath.FromSlash(ref.Url)))
	}
	return frame(t, from.data[ref.Range.Start:ref.Range.End])
}

// frame checks u32 length, payload, u32 checksum, and returns the payload.
func frame(t *testing.T, message []byte) []byte {
	t.Helper()
	length := binary.LittleEndian.Uint32(message)
	require.Len(t, message, 8+int(length))
	payload := message[4 : 4+length]
	hash := xxh3.Hash(payload)
	require.Equal(t, uint32(hash>>32)^uint32(hash), binary.LittleEndian.Uint32(message[4+length:]))
	return bytes.Clone(payload)
}
