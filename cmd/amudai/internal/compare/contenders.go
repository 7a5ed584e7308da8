// Package compare compares shards with Parquet and Arrow files of the same table. It has the
// contenders, the question that they answer, and the demo.
package compare

import (
	"context"
	"fmt"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/ipc"

	"github.com/amudai/amudai-go/cmd/amudai/internal/formats"
	"github.com/amudai/amudai-go/encoding"
	"github.com/amudai/amudai-go/internal/bench/measure"
	"github.com/amudai/amudai-go/internal/bench/suite"
	"github.com/amudai/amudai-go/internal/format/edition"
	"github.com/amudai/amudai-go/shard"
	"github.com/amudai/amudai-go/table/parquet"
	"github.com/amudai/amudai-go/table/provider"
)

// Rivals are the contenders other than shards. The first is the baseline of the ratios.
func Rivals() []suite.Contender {
	return []suite.Contender{
		parquetFile{"parquet zstd", "zstd"}, parquetFile{"parquet snappy", "snappy"},
		suite.ArrowFile{Title: "arrow ipc zstd", Options: []ipc.Option{ipc.WithZstd()}},
	}
}

// Contender returns a contender by its name: a rival, or a shard of any edition and profile.
func Contender(name string) (suite.Contender, error) {
	list := Rivals()
	for _, e := range []edition.Edition{edition.Reference, edition.E2026} {
		for p := encoding.Profile(0); p <= encoding.MinimalSize; p++ {
			list = append(list, suite.Shard{Options: shard.WriterOptions{Edition: e, Profile: p}})
		}
	}
	for _, k := range list {
		if k.Name() == name {
			return k, nil
		}
	}
	return nil, fmt.Errorf("unknown contender %q", name)
}

// parquetFile is Parquet as written and read by the command convert.
type parquetFile struct{ title, compression string }

// Name implements [suite.Contender].
func (k parquetFile) Name() string { return k.title }

// Can implements [suite.Contender]. The baseline does all operations.
func (k parquetFile) Can(_ *suite.Dataset, op string) bool {
	return k.compression == "zstd" || op == measure.OpWrite || op == measure.OpScan || op == measure.OpProject || op == measure.OpOpen ||
		measure.IsPeak(op)
}

// Write implements [suite.Contender].
func (k parquetFile) Write(ctx context.Context, path string, s *arrow.Schema, next suite.Source, _ int) error {
	sink, err := formats.Create(ctx, nil, path, parquet.New(parquet.Options{Compression: k.compression}), s, true, provider.WriteOptions{})
	if err != nil {
		return err
	}
	return next.WriteTo(ctx, sink)
}

// Read implements [suite.Contender].
func (k parquetFile) Read(ctx context.Context, path string, q suite.Query, out *suite.Outcome) error {
	return suite.ReadTable(ctx, parquet.New(parquet.Options{Parallelism: q.Threads}), path, q, out)
}
