// Package verify checks a Blockpack file: it decodes all columns of all blocks, makes every index and statistic anew of their
// values, and compares them with those of the file.
//
// The format has no checksums. Damage of values is found only as far as it contradicts something else: an index, a statistic, or
// the checksum of a Zstandard frame.
package verify

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/amudai/amudai-go/blockpack/internal/column"
	"github.com/amudai/amudai-go/blockpack/internal/layout"
	"github.com/amudai/amudai-go/blockpack/internal/ranges"
	"github.com/amudai/amudai-go/blockpack/internal/spans"
	"github.com/amudai/amudai-go/blockpack/internal/summary"
	"github.com/amudai/amudai-go/internal/base/fault"
	"github.com/amudai/amudai-go/internal/base/parallel"
	"github.com/amudai/amudai-go/internal/verification"
	"github.com/amudai/amudai-go/storage"
	"github.com/amudai/amudai-go/table/provider"
)

// checker is one verification. Blocks are checked by several goroutines.
type checker struct {
	*verification.Findings
	reader    storage.Reader
	size      int64
	meta      *layout.Metadata
	firstRows []int64 // of its blocks
	own       bool    // this module wrote the file: its indexes are believed, so that they must be right
	compact   *layout.CompactIndex

	ranges map[string]*rangeCheck
	listed map[column.Key]column.Traits // the columns of the file; nil if it does not list them

	sections ranges.Sections // with summaries of traces

	lock    sync.Mutex
	survey  spans.Survey
	summary summary.Builder
}

// File checks the file of a reader. Damage makes problems in the report. The error is one of reading.
func File(ctx context.Context, r storage.Reader, o provider.VerifyOptions) (*provider.Report, error) {
	found, err := verification.Begin(o, "block", "column", "value", "range lookup", "trace reference")
	if err != nil {
		return nil, err
	}
	c := &checker{Findings: found, reader: r}
	return c.Report(c.file(ctx))
}

func (c *checker) file(ctx context.Context) error {
	f, err := layout.Open(ctx, c.reader, 0)
	if err != nil {
		return c.problem(err)
	}
	c.size, c.meta, c.firstRows = f.Size, f.Metadata, f.Metadata.FirstRows()
	c.own = c.meta.Ranges.Mark() != ""
	if err := c.problem(c.loadCompact(ctx, f)); err != nil {
		return err
	}
	if err := c.loadRanges(); err != nil {
		return err
	}
	if err := c.loadColumns(); err != nil {
		return err
	}
	c.sections = ranges.Sections{}
	for _, kind := range ranges.SectionNames {
		if c.sections[kind.Column], err = c.meta.Ranges.Sections(kind.Column); err != nil {
			return c.problem(err)
		}
	}
	if err := c.checkGaps(f); err != nil {
		return err
	}
	if c.Options.MetadataOnly {
		c.unchecked(errors.New("the blocks, and whether the indexes are those of their values"))
		return nil
	}
	if err := c.allBlocks(ctx); err != nil {
		return err
	}
	if err := c.compareTraceCounts(); err != nil {
		return err
	}
	if err := c.compareSummaries(ctx); err != nil {
		return err
	}
	return c.compareColumns()
}

func (c *checker) loadCompact(ctx context.Context, f *layout.File) (err error) {
	if c.compact, err = f.Compact(ctx); err != nil || c.compact == nil {
		return err
	}
	if n := c.compact.Blocks(); n != len(c.meta.Blocks) {
		err := fault.Corruptf("%d blocks, and %d in the block index", n, len(c.meta.Blocks))
		c.compact = nil
		return fault.In(err, "compact index", f.Footer.CompactOffset)
	}
	for i := range c.meta.Blocks {
		b := &c.meta.Blocks[i]
		if offset, length := c.compact.Block(i); offset != b.Offset || length != b.Length {
			err := fault.Corruptf("block %d is %d bytes at %d, in the block index %d bytes at %d", i, length, offset, b.Length, b.Offset)
			return fault.In(err, "compact index", f.Footer.CompactOffset)
		}
	}
	return nil
}

// checkGaps notes bytes that nothing refers to.
func (c *checker) checkGaps(f *layout.File) error {
	covered := int64(layout.FooterSize+layout.HeaderSize) + c.meta.Sections[4] - c.meta.Sections[0] + f.Footer.CompactLength
	for i := range c.meta.Blocks {
		covered += c.meta.Blocks[i].Length
	}
	for _, list := range c.sections {
		for _, s := range list {
			covered += s.Length
		}
	}
	switch rest := c.size - covered; {
	case rest > 0:
		c.note(fmt.Errorf("nothing refers to %d bytes of the file", rest))
	case rest < 0:
		return c.problem(fault.Corruptf("parts of the file overlap: they have %d bytes, the file has %d", covered, c.size))
	}
	return nil
}

func (c *checker) allBlocks(ctx context.Context) error {
	return parallel.Each(ctx, len(c.meta.Blocks), c.Options.Parallelism, func(ctx context.Context, i int) (err error) {
		defer fault.Recover(&err)
		if err := c.block(ctx, i); err != nil {
			return err
		}
		c.Done(len(c.meta.Blocks))
		return nil
	})
}

// problem reports damage. What is beyond a limit, and a file of an unknown version, are not checked; in a known version, an unknown code is
// damage. Other errors, those of reading, are returned, and so is verification.ErrEnough.
func (c *checker) problem(err error) error {
	if err == nil || !fault.Is(err) || errors.Is(err, verification.ErrEnough) {
		return err
	}
	if version := new(layout.UnsupportedError); errors.As(err, &version) || errors.Is(err, fault.ErrLimit) {
		c.unchecked(err)
		return nil
	}
	return c.Problem(fault.Of(err, c.reader.Name()))
}

// contradiction reports that an index is wrong: damage in a file of this module, whose readers believe it. In others it is
// known to happen, and harmless.
func (c *checker) contradiction(err error) error {
	if err == nil || c.own {
		return c.problem(err)
	}
	c.note(err)
	return nil
}

func (c *checker) note(err error) { c.Note(fault.Of(err, c.reader.Name())) }

func (c *checker) unchecked(err error) { c.Unchecked(fault.Of(err, c.reader.Name())) }
