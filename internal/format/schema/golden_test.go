package schema_test

import (
	"bufio"
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/amudai/amudai-go/internal/format/schema"
	"github.com/amudai/amudai-go/internal/testing/goldenwalk"
	"github.com/amudai/amudai-go/internal/testing/testdata"
)

type goldenLine struct {
	File   string   `json:"file"`
	Schema []string `json:"schema"`
	Nodes  uint32   `json:"schema_nodes"`
}

func goldens(t testing.TB) (lines []goldenLine) {
	in := bufio.NewScanner(bytes.NewReader(testdata.ReadGolden(t, "stats.jsonl.gz")))
	in.Buffer(nil, 256<<20)
	for in.Scan() {
		var l goldenLine
		require.NoError(t, json.Unmarshal(in.Bytes(), &l))
		lines = append(lines, l)
	}
	require.NoError(t, in.Err())
	if testdata.AllGoldens(t) {
		require.Greater(t, len(lines), 80)
	}
	return lines
}

// The schema of every shard of the reference has the recorded fields, passes every check, finds each field by name,
// path and id, and is built again from its description.
func TestGoldenSchemas(t *testing.T) {
	lines, nodes := goldens(t), 0
	for _, l := range lines {
		s, err := schema.Parse(goldenwalk.Schema(t, l.File))
		require.NoError(t, err, l.File)
		require.Equal(t, l.Nodes, s.IDCount())
		if last := l.Schema[len(l.Schema)-1]; strings.HasSuffix(last, " more") {
			l.Schema = l.Schema[:len(l.Schema)-1] // the recorded fields of a wide shard are incomplete
		} else {
			require.Len(t, l.Schema, s.NumFields())
		}
		require.NoError(t, s.Check(), l.File)
		for i, want := range l.Schema {
			n, err := s.Field(i)
			require.NoError(t, err)
			text, err := n.Text()
			require.NoError(t, err)
			require.Equal(t, want, n.Name()+": "+text)
		}
		id := uint32(0)
		require.NoError(t, s.Walk(func(path string, n schema.Node) error {
			require.Equal(t, id, n.ID())
			id++
			found, err := s.Path(path)
			require.NoError(t, err, path)
			require.Equal(t, n.ID(), found.ID())
			return nil
		}))
		require.Equal(t, l.Nodes, id)
		nodes += int(id)

		fields := describe(t, s)
		again, err := schema.Build(fields)
		require.NoError(t, err)
		s2, err := schema.Parse(again)
		require.NoError(t, err)
		require.NoError(t, s2.Check())
		require.Equal(t, fields, describe(t, s2))
	}
	t.Logf("%d shards, %d nodes", len(lines), nodes)
}

// describe returns the nodes of a schema.
func describe(t testing.TB, s *schema.Schema) []schema.Field {
	fields := make([]schema.Field, s.NumFields())
	for i := range fields {
		n, err := s.Field(i)
		require.NoError(t, err)
		fields[i] = describeNode(t, n)
	}
	return fields
}

func describeNode(t testing.TB, n schema.Node) schema.Field {
	f, err := n.Schema().Budget().Describe(n)
	require.NoError(t, err)
	for i := range n.NumChildren() {
		c, err := n.Child(i)
		require.NoError(t, err)
		f.Children = append(f.Children, describeNode(t, c))
	}
	return f
}
