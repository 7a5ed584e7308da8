package root

import (
	"context"
	"errors"
	"slices"

	"github.com/amudai/amudai-go/internal/format/container"
	"github.com/amudai/amudai-go/internal/format/schema"
	"github.com/amudai/amudai-go/shard/internal/shardfile"
)

// Numbers tell whether rows have the numbers in a later root that they had in one: by where the descriptors of columns are, which stay when other columns, deletes
// or indexes change, and are others in stripes that are written anew.
type Numbers struct {
	stripes []map[string]place // of the columns of each stripe, by path
	rows    []int64
}

type place struct {
	url   string
	bytes shardfile.Range
}

// Keep keeps the numbers of the rows of the first root that it is called with, that of f. For later ones it returns an error unless rows have the same numbers: each
// stripe has columns of the first root, and no others of the same names.
func (n *Numbers) Keep(ctx context.Context, f *shardfile.File, r Root) error {
	now, err := numbersOf(ctx, f, r)
	if n.stripes == nil || err != nil {
		*n = now
		return err
	}
	same := slices.Equal(n.rows, now.rows)
	for i := 0; same && i < len(n.rows); i++ {
		stay := 0
		for path, p := range n.stripes[i] {
			if q, ok := now.stripes[i][path]; ok {
				same = same && p == q
				stay++
			}
		}
		same = same && stay > 0
	}
	if !same {
		return errors.New("rows may have other numbers now")
	}
	return nil
}

func numbersOf(ctx context.Context, f *shardfile.File, r Root) (n Numbers, err error) {
	name, err := DataName(ctx, f.Root(), f)
	if err != nil {
		return n, err
	}
	self := shardfile.URLOf(f.Root())
	for _, s := range r.Stripes {
		places := map[string]place{}
		if err := r.Schema.Walk(func(path string, column schema.Node) error {
			if column.Hidden() {
				return nil
			}
			at, ok, err := s.Of.DescriptorRef(ctx, column.ID())
			if ok {
				p := place{shardfile.URLOf(at.Artifact), at.Range}
				if p.url == self { // which has this name in later roots
					p.url = container.Container(self) + name
				}
				places[path] = p
			}
			return err
		}); err != nil {
			return n, err
		}
		n.stripes, n.rows = append(n.stripes, places), append(n.rows, s.Of.Rows())
	}
	return n, nil
}
