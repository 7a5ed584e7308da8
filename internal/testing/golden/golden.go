// Package golden lists the shards that the reference wrote, with their recorded metadata. It is
// for tests of several packages.
package golden

import (
	"bufio"
	"bytes"
	"encoding/json"
	"testing"

	"github.com/amudai/amudai-go/internal/testing/testdata"
)

// Shard is an entry of manifest.json.
type Shard struct {
	File       string `json:"file"`
	Expected   string `json:"expected"`
	RustRead   string `json:"rust_read"`
	Layout     string `json:"layout"`
	Profile    string `json:"profile"`
	WriteError string `json:"write_error"`
	// ChangedFloats are columns for which the reference stored another NaN or zero than its input.
	ChangedFloats []string `json:"float_columns_changed_by_the_writer"`
}

// Path is the path of the shard as a plain file, decompressed if needed.
func (s Shard) Path(t testing.TB) string { return testdata.UnpackGolden(t, s.File) }

// Shards lists the shards of the manifest that exist.
func Shards(t testing.TB) []Shard {
	t.Helper()
	var m struct {
		Shards []Shard `json:"shards"`
	}
	if err := json.Unmarshal(testdata.ReadGolden(t, "manifest.json"), &m); err != nil {
		t.Fatal(err)
	}
	var out []Shard
	for _, s := range m.Shards {
		if s.WriteError == "" {
			out = append(out, s)
		}
	}
	return out
}

// Stats is a line of stats.jsonl.gz: the metadata of one shard.
type Stats struct {
	File        string           `json:"file"`
	CreationMin string           `json:"creation_min"`
	CreationMax string           `json:"creation_max"`
	Properties  [][2]any         `json:"properties"`
	RawDataSize float64          `json:"raw_data_size"`
	Rows        float64          `json:"rows"`
	Schema      []string         `json:"schema"`
	SchemaNodes int              `json:"schema_nodes"`
	ShardFields []map[string]any `json:"shard_fields"`
	StripeCount int              `json:"stripe_count"`
	Stripes     []StripeStats    `json:"stripes"`
}

// StripeStats is one stripe of a [Stats].
type StripeStats struct {
	Fields        []FieldStats `json:"fields"`
	Properties    [][2]any     `json:"properties"`
	RawDataSize   float64      `json:"raw_data_size"`
	Records       float64      `json:"records"`
	ShardPosition float64      `json:"shard_position"`
}

// FieldStats is one schema node of a [StripeStats].
type FieldStats struct {
	Path       string         `json:"path"`
	SchemaID   uint32         `json:"schema_id"`
	Type       string         `json:"type"`
	Descriptor map[string]any `json:"descriptor"`
	Buffers    []Buffer       `json:"buffers"`
}

// Buffer is one encoded buffer of a [FieldStats].
type Buffer struct {
	Kind   string   `json:"kind"`
	Size   float64  `json:"size"`
	Blocks *float64 `json:"blocks"`
}

// AllStats reads stats.jsonl.gz. The keys are files.
func AllStats(t testing.TB) map[string]Stats {
	t.Helper()
	out := map[string]Stats{}
	lines := bufio.NewReader(bytes.NewReader(testdata.ReadGolden(t, "stats.jsonl.gz")))
	for {
		line, err := lines.ReadBytes('\n')
		if len(line) > 0 {
			var s Stats
			if err := json.Unmarshal(line, &s); err != nil {
				t.Fatal(err)
			}
			out[s.File] = s
		}
		if err != nil {
			return out
		}
	}
}
