package verify

import (
	"context"
	"errors"
	"fmt"
	"io/fs"

	"github.com/amudai/amudai-go/internal/base/fault"
	"github.com/amudai/amudai-go/internal/engine/rowset"
	"github.com/amudai/amudai-go/shard/internal/indexing"
	"github.com/amudai/amudai-go/shard/internal/shardtable"
)

// indexes checks the indexes of the shard and of its stripes: each is built anew of the data, and compared.
func (v *verifier) indexes(ctx context.Context) error {
	t := shardtable.New(v.file, v.schema, shardtable.Options{MaxBlockBytes: v.o.MaxBlockBytes, MaxDictionaryBytes: v.o.MaxDictionaryBytes})
	all, err := t.Indexes(ctx)
	if err != nil {
		return v.found(err)
	}
	if err := v.compareIndexes(ctx, t, all, rowset.Range{To: t.NumRows()}); err != nil {
		return err
	}
	for i := range t.NumStripes() {
		all, err := t.StripeIndexes(ctx, i)
		if err != nil {
			return v.found(err)
		}
		s := t.Stripe(i)
		if err := v.compareIndexes(ctx, t, all, rowset.Range{From: s.Position(), To: s.Position() + s.Rows()}); err != nil {
			return err
		}
	}
	return nil
}

// compareIndexes checks indexes of some rows.
func (v *verifier) compareIndexes(ctx context.Context, t *shardtable.Table, all []*shardtable.Index, rows rowset.Range) error {
	for _, x := range all {
		v.count(func(r *Report) { r.Indexes++ })
		opened, err := x.Open(ctx)
		if err != nil {
			if err := v.found(err); err != nil {
				return err
			}
			continue
		}
		if v.o.MetadataOnly {
			continue
		}
		if v.o.Quick {
			v.unchecked(fmt.Errorf("%s: an index is checked by building it again, which takes a complete verification", x.Descriptor.GetIndexType()))
			continue
		}
		name := x.Descriptor.GetIndexType()
		built, err := v.rebuild(ctx, t, x, rows)
		if err != nil {
			if !fault.Is(err) && !errors.Is(err, fs.ErrNotExist) {
				return err
			}
			v.unchecked(fmt.Errorf("%s: it cannot be built again: %w", name, err))
			continue
		}
		other, err := x.Kind.Open(ctx, x.Descriptor, built.Ranges(), rows.Len())
		if err == nil {
			err = opened.Compare(ctx, other, func(err error) error { return v.found(fault.In(err, name, -1)) })
		}
		if err := errors.Join(v.found(err), built.Close()); err != nil {
			return err
		}
	}
	return nil
}

// rebuild builds an index of some rows anew.
func (v *verifier) rebuild(ctx context.Context, t *shardtable.Table, x *shardtable.Index, rows rowset.Range) (*indexing.Artifacts, error) {
	s, err := t.ArrowSchema(ctx)
	if err != nil {
		return nil, err
	}
	p, err := indexing.Of(v.schema, s, x.Kind, x.Descriptor)
	if err != nil {
		return nil, err
	}
	return p.Build(ctx, t, rows, indexing.Options{Parallelism: v.o.Parallelism})
}
