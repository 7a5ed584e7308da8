package main

import (
	"errors"
	"slices"
	"strings"

	"github.com/apache/arrow-go/v18/arrow/ipc"
	"github.com/apache/arrow-go/v18/parquet/compress"

	"github.com/amudai/amudai-go/encoding"
	"github.com/amudai/amudai-go/internal/bench/measure"
	"github.com/amudai/amudai-go/internal/bench/suite"
	"github.com/amudai/amudai-go/internal/format/edition"
	"github.com/amudai/amudai-go/shard"
)

// baseName is the contender that all others are compared with.
const baseName = "parquet zstd"

func contenders() []suite.Contender {
	out := []suite.Contender{
		parquetFile{title: baseName, codec: compress.Codecs.Zstd}, parquetFile{title: "parquet snappy", codec: compress.Codecs.Snappy},
		suite.ArrowFile{Title: "arrow ipc lz4", Options: []ipc.Option{ipc.WithLZ4()}}, suite.ArrowFile{Title: "arrow ipc zstd", Options: []ipc.Option{ipc.WithZstd()}},
		ntupleFile{}, blockpackFile{},
	}
	for _, e := range []edition.Edition{edition.Reference, edition.E2026} {
		for _, p := range []encoding.Profile{encoding.Balanced, encoding.HighCompression, encoding.MinimalSize, encoding.MinimalCompression} {
			out = append(out, shardFile{suite.Shard{Options: shard.WriterOptions{Edition: e, Profile: p}}})
		}
	}
	return out
}

// find is the contender with a name.
func find(name string) (suite.Contender, error) {
	for _, k := range contenders() {
		if k.Name() == name {
			return k, nil
		}
	}
	return nil, errors.New("unknown contender " + name)
}

// shardFile is a contender that writes and reads shards.
type shardFile struct{ suite.Shard }

// Can leaves most operations, and wide and very long data, to the default profile: wide data is
// about metadata, and long data about memory.
func (k shardFile) Can(d *suite.Dataset, op string) bool {
	if k.Options.Profile == encoding.Balanced || d.Text {
		return true
	}
	return k.Options.Profile != encoding.MinimalCompression && !d.Wide && d.Times <= 1 && slices.Contains([]string{
		measure.OpWrite, measure.OpScan, measure.OpProject, measure.OpOpen, measure.OpPeakWrite, measure.OpPeakScan}, op)
}

// chosen are the base and the requested contenders, by default for texts only the newest edition, and Vortex, and for unseen tables those of their table.
func (c config) chosen(d *suite.Dataset) []suite.Contender {
	only := c.only
	if only == "" && d.Text {
		only = "amudai 2026,vortex"
	}
	all := contenders()
	for _, p := range c.started {
		all = append(all, p)
	}
	return slices.DeleteFunc(all, func(k suite.Contender) bool {
		if only == "" && strings.HasPrefix(d.Name, "unseen") {
			return !slices.Contains(unseenContenders, k.Name())
		}
		return k.Name() != baseName && !slices.ContainsFunc(strings.Split(only, ","), func(part string) bool {
			return strings.Contains(k.Name(), part)
		})
	})
}

// wants reports whether an operation was requested. By default all are.
func (c config) wants(op string) bool {
	return c.ops == "" || slices.ContainsFunc(strings.Split(c.ops, ","), func(o string) bool {
		return op == o || (o+" " == measure.OpFilter || o+" " == measure.OpCount) && strings.HasPrefix(op, o)
	})
}
