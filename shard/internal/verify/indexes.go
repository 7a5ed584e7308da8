package verify

import (
	"context"
	"errors"
	"fmt"

	"github.com/amudai/amudai-go/internal/base/fault"
	"github.com/amudai/amudai-go/shard/internal/indexing"
	"github.com/amudai/amudai-go/shard/internal/shardtable"
)

// indexes checks the indexes of the shard and of its stripes: each is built anew of the data, and compared.
func (v *verifier) indexes(ctx context.Context) error {
	t := shardtable.New(v.file, v.schema, shardtable.Options{MaxBlockBytes: v.o.MaxBlockBytes, MaxDictionaryBytes: v.o.MaxDictionaryBytes})
	for x, err := range t.AllIndexes(ctx) {
		if err != nil {
			return v.found(err)
		}
		if err := v.index(ctx, t, x); err != nil {
			return err
		}
	}
	return nil
}

func (v *verifier) index(ctx context.Context, t *shardtable.Table, x *shardtable.Index) error {
	name := x.Descriptor.GetIndexType()
	v.Count("index", 1)
	opened, err := x.Open(ctx)
	switch {
	case err != nil:
		return v.found(err)
	case v.Options.MetadataOnly:
		return nil
	case v.Options.Quick:
		v.Unchecked(fmt.Errorf("%s: an index is checked by building it again, which takes a complete verification", name))
		return nil
	}
	built, err := v.rebuild(ctx, t, x)
	if err != nil {
		if !isDamage(err) {
			return err
		}
		v.Unchecked(fmt.Errorf("%s: it cannot be built again: %w", name, err))
		return nil
	}
	other, err := x.Kind.Open(ctx, x.Descriptor, built.Ranges(), x.Rows.Len())
	if err == nil {
		err = opened.Compare(ctx, other, func(err error) error { return v.found(fault.In(err, name, -1)) })
	}
	return errors.Join(v.found(err), built.Close())
}

// rebuild builds an index anew.
func (v *verifier) rebuild(ctx context.Context, t *shardtable.Table, x *shardtable.Index) (*indexing.Built, error) {
	s, err := t.ArrowSchema(ctx)
	if err != nil {
		return nil, err
	}
	p, err := indexing.Of(v.schema, s, x.Kind, x.Descriptor)
	if err != nil {
		return nil, err
	}
	return p.Build(ctx, t, x.Rows, indexing.Options{Parallelism: v.Options.Parallelism})
}
