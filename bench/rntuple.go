package main

import (
	"context"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/amudai/amudai-go/internal/bench/measure"
	"github.com/amudai/amudai-go/internal/bench/suite"
	"github.com/amudai/amudai-go/rntuple"
)

// ntupleFile is an RNTuple with zstd, as package rntuple writes and reads it.
type ntupleFile struct{}

// Name implements [suite.Contender].
func (ntupleFile) Name() string { return "rntuple" }

// Can implements [suite.Contender].
func (ntupleFile) Can(d *suite.Dataset, op string) bool {
	return d.Name == "nano" || d.Name == "nano1g" || d.Name == "wide10k" && (op == measure.OpWrite || op == measure.OpOpen)
}

// Write implements [suite.Contender].
func (ntupleFile) Write(ctx context.Context, path string, s *arrow.Schema, next suite.Source, threads int) error {
	w, err := rntuple.Create(ctx, path, s, rntuple.WriterOptions{Overwrite: true, Parallelism: threads})
	if err != nil {
		return err
	}
	return next.WriteTo(ctx, w)
}

// Read implements [suite.Contender].
func (ntupleFile) Read(ctx context.Context, path string, q suite.Query, out *suite.Outcome) error {
	return suite.ReadTable(ctx, rntuple.New(rntuple.FormatOptions{Read: rntuple.Options{Parallelism: q.Threads}}), path, q, out)
}
