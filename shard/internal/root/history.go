package root

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/amudai/amudai-go/internal/base/fault"
	"github.com/amudai/amudai-go/internal/format/container"
	"github.com/amudai/amudai-go/shard/internal/shardfile"
	"github.com/amudai/amudai-go/storage"
)

// Version describes a root among those that replaced each other at a location.
type Version struct {
	Number  int64     // ascending
	Time    time.Time // when the root was published, as far as that is known
	Rows    int64     // deleted ones included
	Deleted int64     // deleted rows
	Change  string    // what was changed, in a few words
	URL     string    // of the root, relative to its folder; "" for that of the location
}

// History has the versions of a shard that can be read, and which are kept. It is a standard property of the root (docs/format.md §11).
type History struct {
	Keep   int64         // number of earlier versions; 0 for none
	Age    time.Duration // up to which they are kept; 0 for any
	Now    Version
	Before []Version // the newest first
}

// HistoryOf is the history of a shard.
func HistoryOf(ctx context.Context, f *shardfile.File) (h History, err error) {
	p, err := f.Properties(ctx)
	if err != nil {
		return h, err
	}
	h.Now = Version{Number: 1, Rows: f.Rows(), Deleted: int64(f.Directory().GetDeletedRecordCount())}
	if t := p.CreationMax.GetTicks(); t != 0 {
		h.Now.Time = shardfile.Time(t)
	}
	if v := shardfile.Find(shardfile.PropertiesFromProto(p.StandardProperties), shardfile.PropertyHistory); v != nil {
		err = h.parse(v)
	}
	return h, fault.Of(fault.In(err, shardfile.PropertyHistory, -1), f.Location())
}

// All are all versions, the newest first.
func (h *History) All() []Version { return append([]Version{h.Now}, h.Before...) }

func (h *History) parse(v any) error {
	top, ok := v.([]shardfile.Property)
	if !ok {
		return fault.Corruptf("not a struct")
	}
	version := func(list []shardfile.Property) (v Version) {
		v.Number, _ = shardfile.Find(list, "number").(int64)
		v.Time, _ = shardfile.Find(list, "time").(time.Time)
		v.Rows, _ = shardfile.Find(list, "rows").(int64)
		v.Deleted, _ = shardfile.Find(list, "deleted").(int64)
		v.Change, _ = shardfile.Find(list, "change").(string)
		v.URL, _ = shardfile.Find(list, "url").(string)
		return v
	}
	h.Keep, _ = shardfile.Find(top, "keep").(int64)
	h.Age, _ = shardfile.Find(top, "age").(time.Duration)
	now := version(top)
	now.Rows, now.Deleted = h.Now.Rows, h.Now.Deleted
	h.Now = now
	before, _ := shardfile.Find(top, "before").([]any)
	last := now.Number
	for _, b := range before {
		list, ok := b.([]shardfile.Property)
		v := version(list)
		if !ok || v.Number >= last || v.URL == "" {
			return fault.Corruptf("versions that do not descend, or have no name")
		}
		h.Before, last = append(h.Before, v), v.Number
	}
	return nil
}

// property is the history as a property.
func (h *History) property() shardfile.Property {
	var before []any
	for _, v := range h.Before {
		before = append(before, []shardfile.Property{
			{Name: "number", Value: v.Number}, {Name: "time", Value: v.Time}, {Name: "rows", Value: v.Rows}, {Name: "deleted", Value: v.Deleted},
			{Name: "change", Value: v.Change}, {Name: "url", Value: v.URL},
		})
	}
	return shardfile.Property{Name: shardfile.PropertyHistory, Value: []shardfile.Property{
		{Name: "keep", Value: h.Keep}, {Name: "age", Value: h.Age}, {Name: "number", Value: h.Now.Number}, {Name: "time", Value: h.Now.Time},
		{Name: "change", Value: h.Now.Change}, {Name: "before", Value: before},
	}}
}

// next is the history of a root that replaces the one with this history, whose second name is url.
func (h *History) next(url, change string, now time.Time) History {
	out := History{Keep: h.Keep, Age: h.Age, Now: Version{Number: h.Now.Number + 1, Time: now, Change: change}}
	old := h.Now
	old.URL = url
	for _, v := range append([]Version{old}, h.Before...) {
		if int64(len(out.Before)) < h.Keep && (h.Age == 0 || now.Sub(v.Time) <= h.Age) {
			out.Before = append(out.Before, v)
		}
	}
	return out
}

// At says which version of a shard is meant: the zero value the present one.
type At struct {
	Number int64     // if it is not 0
	Time   time.Time // if it is not zero, the newest version up to this time
}

// IsZero reports whether the present version is meant.
func (a At) IsZero() bool { return a.Number == 0 && a.Time.IsZero() }

// OpenVersion opens a version of an open shard, which it closes.
func OpenVersion(ctx context.Context, f *shardfile.File, o shardfile.OpenOptions, at At) (out *shardfile.File, err error) {
	h, err := HistoryOf(ctx, f)
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	all := h.All()
	i := slices.IndexFunc(all, func(v Version) bool {
		return at.Number != 0 && v.Number == at.Number || at.Number == 0 && !v.Time.After(at.Time)
	})
	if i == 0 {
		return f, nil
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	if i < 0 {
		return nil, fmt.Errorf("%s keeps no such version: it has %d to %d", f.Location(), all[len(all)-1].Number, h.Now.Number)
	}
	url, err := container.Resolve(shardfile.URLOf(f.Root()), shardfile.URLOf(f.Root()), all[i].URL, container.Policy{})
	if err != nil {
		return nil, fault.Of(err, f.Location())
	}
	if o.Store, err = storage.Of(o.Store, f.Location()); err != nil {
		return nil, err
	}
	if out, err = shardfile.Open(ctx, url, o); err != nil {
		return nil, fmt.Errorf("version %d: %w", all[i].Number, err)
	}
	name, err := DataName(ctx, out.Root(), out)
	if err == nil && (name != all[i].URL || out.Rows() != all[i].Rows || int64(out.Directory().GetDeletedRecordCount()) != all[i].Deleted) {
		err = fault.Of(fault.Corruptf("not version %d of %s, but another root", all[i].Number, f.Location()), url)
	}
	if err != nil {
		return nil, errors.Join(err, out.Close())
	}
	return out, nil
}

// keep gives the root its history, if it replaces a root that has one or is to have one. name is the second name of that.
func (r *Root) keep(ctx context.Context, f *shardfile.File, name string) (h History, err error) {
	if h, err = HistoryOf(ctx, f); err != nil {
		return h, err
	}
	if r.Keep != nil {
		h.Keep, h.Age = r.Keep.Keep, r.Keep.Age
	}
	if h.Keep <= 0 && r.Keep == nil {
		return h, nil
	}
	h = h.next(name, cmp.Or(r.Change, "changed"), time.Now())
	if h.Keep > 0 {
		r.Standard = append(slices.Clip(r.Standard), h.property())
	}
	return h, nil
}
