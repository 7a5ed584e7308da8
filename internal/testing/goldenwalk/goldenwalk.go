// Package goldenwalk iterates over the shards of the reference implementation. For each node of each stripe, it
// has the input of the reference and the stored bytes. It is for tests, and depends only on package container and
// the generated messages, not on the readers under test.
package goldenwalk

import (
	"bytes"
	"path"
	"strings"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/ipc"
	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"

	commonpb "github.com/amudai/amudai-go/gen/amudai/common"
	shardpb "github.com/amudai/amudai-go/gen/amudai/shard"
	"github.com/amudai/amudai-go/internal/arrow/kinds"
	"github.com/amudai/amudai-go/internal/format/container"
	"github.com/amudai/amudai-go/internal/testing/golden"
	"github.com/amudai/amudai-go/internal/testing/testdata"
)

// Node is one node of the schema in one stripe.
type Node struct {
	File    string // of the shard, below golden/amudai
	Profile string // profile of the writer
	Stripe  int
	ID      uint32
	Path    string
	Type    string // as the reference prints it: "FixedSizeBinary(16)[KustoDecimal]"
	Values  arrow.Array
	Desc    *shardpb.StripeFieldDescriptor
	shard   *Shard
}

// Shard is one golden shard.
type Shard struct {
	File      string
	Directory *shardpb.ShardDirectory
	root      []byte
	artifacts map[string][]byte
	t         testing.TB
}

// Read returns the bytes of a reference in a message of the root or of a descriptor.
func (n *Node) Read(ref *commonpb.DataRef) []byte { return n.shard.Read(ref) }

// Read returns the bytes of a reference. Absolute urls mean the root.
func (s *Shard) Read(ref *commonpb.DataRef) []byte {
	b := s.root
	if url := ref.GetUrl(); url != "" && !strings.Contains(url, "://") {
		if s.artifacts[url] == nil {
			s.artifacts[url] = testdata.ReadGolden(s.t, path.Join(path.Dir(s.File), url))
		}
		b = s.artifacts[url]
	}
	start, end := ref.GetRange().GetStart(), ref.GetRange().GetEnd()
	require.LessOrEqual(s.t, end, uint64(len(b)))
	return b[start:end]
}

// Payload reads the payload of a frame.
func (s *Shard) Payload(ref *commonpb.DataRef) []byte {
	payload, err := container.ParseFrame(s.Read(ref))
	require.NoError(s.t, err)
	return payload
}

// Message reads a framed message.
func (s *Shard) Message(ref *commonpb.DataRef, m proto.Message) {
	require.NoError(s.t, proto.Unmarshal(s.Payload(ref), m))
}

// Schema returns the bytes of the schema of a golden shard.
func Schema(t testing.TB, file string) []byte {
	s := open(t, file)
	return s.Payload(s.Directory.SchemaRef)
}

// fieldList returns the descriptors of a field list by schema id, nil where there is none.
func fieldList[M proto.Message](s *Shard, ref *commonpb.DataRef, make func() M) []M {
	var list commonpb.DataRefArray
	s.Message(ref, &list)
	out := []M{}
	for i := range list.Start {
		var m M
		if list.Start[i] != list.End[i] {
			m = make()
			s.Message(&commonpb.DataRef{Url: list.Url[i], Range: &commonpb.UInt64Range{Start: list.Start[i], End: list.End[i]}}, m)
		}
		out = append(out, m)
	}
	return out
}

// Fields returns the shard-level descriptors by schema id.
func (s *Shard) Fields() []*shardpb.FieldDescriptor {
	return fieldList(s, s.Directory.FieldListRef, func() *shardpb.FieldDescriptor { return &shardpb.FieldDescriptor{} })
}

// Stripes returns the descriptors of each stripe by schema id.
func (s *Shard) Stripes() [][]*shardpb.StripeFieldDescriptor {
	var list shardpb.StripeList
	s.Message(s.Directory.StripeListRef, &list)
	var out [][]*shardpb.StripeFieldDescriptor
	for _, stripe := range list.Stripes {
		out = append(out, fieldList(s, stripe.FieldListRef, func() *shardpb.StripeFieldDescriptor { return &shardpb.StripeFieldDescriptor{} }))
	}
	return out
}

// Shards opens all golden shards.
func Shards(t testing.TB) []*Shard {
	var out []*Shard
	for _, entry := range golden.Shards(t) {
		out = append(out, open(t, entry.File))
	}
	return out
}

func open(t testing.TB, file string) *Shard {
	s := &Shard{File: file, root: testdata.ReadGolden(t, file), artifacts: map[string][]byte{}, t: t, Directory: &shardpb.ShardDirectory{}}
	start, end, err := container.DirectoryRange(s.root, int64(len(s.root)))
	require.NoError(t, err)
	payload, err := container.ParseFrame(s.root[start:end])
	require.NoError(t, err)
	require.NoError(t, proto.Unmarshal(payload, s.Directory))
	return s
}

// Walk calls f for each node of each stripe of all shards with expected
// contents, in the order of schema ids.
func Walk(t testing.TB, f func(n *Node)) {
	records := golden.AllStats(t)
	for _, entry := range golden.Shards(t) {
		if entry.Expected == "" {
			continue
		}
		w := walker{t: t, f: f, shard: open(t, entry.File), profile: entry.Profile}
		stripes := w.shard.Stripes()
		r, err := ipc.NewFileReader(bytes.NewReader(testdata.ReadGolden(t, entry.Expected)))
		require.NoError(t, err)
		require.Equal(t, len(stripes), r.NumRecords(), "one batch for each stripe")
		for w.stripe = range stripes {
			batch, err := r.RecordBatch(w.stripe)
			require.NoError(t, err)
			w.descs, w.nodes, w.id = stripes[w.stripe], map[uint32]golden.FieldStats{}, 0
			for _, n := range records[entry.File].Stripes[w.stripe].Fields {
				w.nodes[n.SchemaID] = n
			}
			for _, column := range batch.Columns() {
				w.walk(column)
			}
		}
		require.NoError(t, r.Close())
	}
}

type walker struct {
	t       testing.TB
	f       func(n *Node)
	shard   *Shard
	profile string
	stripe  int
	descs   []*shardpb.StripeFieldDescriptor
	nodes   map[uint32]golden.FieldStats
	id      uint32
}

// walk visits a node and its children; schema ids count them in this order.
func (w *walker) walk(a arrow.Array) {
	if ext, ok := a.(array.ExtensionArray); ok {
		a = ext.Storage()
	}
	id := w.id
	w.id++
	if n, ok := w.nodes[id]; ok && int(id) < len(w.descs) && w.descs[id] != nil {
		w.f(&Node{File: w.shard.File, Profile: w.profile, Stripe: w.stripe, ID: id, Path: n.Path, Type: n.Type, Values: a, Desc: w.descs[id], shard: w.shard})
	}
	v := kinds.Open(a)
	for _, part := range v.Parts {
		if v.Shape == kinds.List {
			from, to := v.Span(a.Len())
			part = array.NewSlice(part, from, to)
		}
		w.walk(part)
	}
}
