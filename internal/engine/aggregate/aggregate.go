// Package aggregate computes aggregates of groups of rows: count(), avg(delay) by origin. It works on the record batches of any
// source ([Aggregator.Add]), in bounded memory: rows of groups that do not fit go to temporary files, and are aggregated at the
// end, a part of the groups at a time.
//
// A group has a number. For each batch, the keys of rows become numbers of groups (keyer), and then every aggregate
// goes over its column once, with the group of each row at hand. Rows that an aggregate leaves out, such as nulls, belong to
// group 0, whose results are dropped, so that loops have no branches.
package aggregate

import (
	"cmp"
	"context"
	"fmt"
	"runtime"
	"slices"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/amudai/amudai-go/internal/arrow/arrowutil"
	"github.com/amudai/amudai-go/internal/arrow/kinds"
	"github.com/amudai/amudai-go/internal/base/fault"
	"github.com/amudai/amudai-go/internal/base/parallel"
	"github.com/amudai/amudai-go/internal/engine/aggregate/internal/column"
	"github.com/amudai/amudai-go/internal/engine/aggregate/internal/keys"
	"github.com/amudai/amudai-go/internal/engine/aggregate/internal/spill"
	"github.com/amudai/amudai-go/internal/engine/compute"
	"github.com/amudai/amudai-go/internal/engine/rowfile"
	"github.com/amudai/amudai-go/internal/engine/rowset"
)

// Options are the options of [New]. The zero value is the default.
type Options struct {
	Allocator   memory.Allocator // default memory.DefaultAllocator
	Memory      int64            // bytes of groups in memory; default 256 MiB
	Rows        int64            // about how many are added, 0 if that is not known
	TempDir     string           // of temporary files; default os.TempDir
	Parallelism int              // aggregates that are computed at the same time; default GOMAXPROCS. Results do not depend on it
}

// shared are the options of an aggregator and of those of its partitions.
type shared struct {
	Options
	values memory.Allocator // of the values of expressions for a batch, whose memory the next batch uses again
	limit  int64            // bytes of tables and states
}

func (o *shared) spill() spill.Options {
	return spill.Options{Allocator: o.Allocator, TempDir: o.TempDir}
}

// Aggregator computes a query: Add batches, then Finish. It is used by one goroutine. Close releases it in any state.
type Aggregator struct {
	o     *shared
	query *Query
	depth int // 0, or that of the partition

	keyer  *keys.Keyer // nil without keys
	groups []uint32
	last   int // greatest group
	spill  *spill.Spill

	args     []argument
	masks    []*mask
	maskKeys map[string]*mask
	states   []*running
	alone    []*running // states of the batch that are not in the team
	team     team
	byKey    map[string]state
	builders []builder
	err      error // of a state that could not be made
}

// running is a state with its input.
type running struct {
	state state
	mask  *mask
	arg   *argument
}

// New makes an aggregator.
func New(q *Query, o Options) (*Aggregator, error) {
	o.Allocator = cmp.Or(o.Allocator, memory.DefaultAllocator)
	o.Memory = cmp.Or(max(o.Memory, 0), 256<<20)
	o.Parallelism = cmp.Or(max(o.Parallelism, 0), runtime.GOMAXPROCS(0))
	// Tables grow by doubling, and what the collector has not found yet takes memory, too.
	limit := o.Memory / 2
	return newAggregator(q, &shared{Options: o, values: arrowutil.NewRecycler(o.Allocator, limit/16), limit: limit}, 0)
}

func newAggregator(q *Query, o *shared, depth int) (*Aggregator, error) {
	a := &Aggregator{o: o, query: q, depth: depth, args: make([]argument, len(q.args)), maskKeys: map[string]*mask{}, byKey: map[string]state{}}
	for i, e := range q.args {
		a.args[i] = argument{name: e.name, dt: e.dt, needs: e.needs}
	}
	if len(q.keys) > 0 {
		var err error
		if a.keyer, err = keys.New(o.Allocator, q.keyTypes(), keys.Options{Kept: true, Room: o.limit / 64, Memory: o.limit, Rows: o.Rows}); err != nil {
			return nil, err
		}
	}
	for _, c := range q.calls {
		a.builders = append(a.builders, c.make(a))
	}
	if a.err != nil {
		a.Close()
		return nil, a.err
	}
	if a.keyer == nil {
		a.last = 1
	}
	a.grow(a.last)
	return a, nil
}

// mask returns the mask of a call. values means without nulls.
func (a *Aggregator) mask(c *bound, values bool) *mask {
	key := fmt.Sprint(c.where)
	if values || c.call.Distinct {
		key += fmt.Sprint(" values ", c.index)
	}
	if c.call.Distinct {
		key += " distinct"
	}
	if m := a.maskKeys[key]; m != nil {
		return m
	}
	m := &mask{wantsDistinct: c.call.Distinct}
	if c.where >= 0 {
		m.where = &a.args[c.where]
	}
	if c.index >= 0 && (values || c.call.Distinct) {
		m.arg = &a.args[c.index]
	}
	a.masks, a.maskKeys[key] = append(a.masks, m), m
	return m
}

// stateFor returns the state with a name of a mask and an argument. There is one for several calls. Without one, the error is in the aggregator.
func stateFor[S state](a *Aggregator, name string, m *mask, arg int, make func() (S, error)) S {
	key := fmt.Sprintf("%s %p %d", name, m, arg)
	if s := a.byKey[key]; s != nil {
		return s.(S)
	}
	s, err := make()
	if err == nil && m.wantsDistinct && m.distinct == nil {
		m.distinct, err = newDistinct(a.o, m.arg.dt, a.keyer == nil && m.where == nil, a.depth)
	}
	if err != nil {
		a.err = err
		return s
	}
	r := &running{state: s, mask: m}
	if arg >= 0 {
		r.arg = &a.args[arg]
	}
	a.states, a.byKey[key] = append(a.states, r), s
	return s
}

// stateOf is [stateFor] the argument of a call, without nulls unless these are values.
func stateOf[S state](a *Aggregator, name string, c *bound, nulls bool, make func() (S, error)) S {
	return stateFor(a, name, a.mask(c, !nulls), c.index, make)
}

// counted returns the number of rows that a call sees in a group. Without a condition, it is that of all rows without that of
// nulls, which are fewer.
func (a *Aggregator) counted(c *bound) func(group int) int64 {
	direct := c.where >= 0 || c.call.Distinct || c.index < 0
	rows := stateFor(a, "count", a.mask(c, direct && c.index >= 0), -1, empty[counts])
	if direct {
		return func(g int) int64 { return rows.n[g] }
	}
	none := stateFor(a, "nulls", a.mask(c, false), c.index, empty[nulls])
	return func(g int) int64 { return rows.n[g] - none.of(g) }
}

// Add adds the rows of a batch, which remains the caller's.
func (a *Aggregator) Add(ctx context.Context, batch arrow.RecordBatch) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if batch.NumRows() == 0 {
		return nil
	}
	columns := make([]arrow.Array, 0, len(a.query.keys)+len(a.query.args))
	defer func() { arrowutil.ReleaseAll(columns) }()
	for _, list := range [2][]expression{a.query.keys, a.query.args} {
		for _, e := range list {
			eval := e.value.Eval
			switch v, ok := e.value.(*compute.Value); {
			case ok && e.needs == 0:
				eval = v.Coded
			case ok && e.needs&needPlain == 0:
				eval = v.Narrow
			}
			arr, err := eval(a.o.values, batch)
			if err != nil {
				return err
			}
			columns = append(columns, arr)
			if arr.Len() != int(batch.NumRows()) {
				return fault.Corruptf("%s has %d values in a batch of %d rows", e.name, arr.Len(), batch.NumRows())
			}
		}
	}
	return a.add(ctx, columns, int(batch.NumRows()))
}

// add adds rows: keys and arguments.
func (a *Aggregator) add(ctx context.Context, columns []arrow.Array, rows int) error {
	if err := a.number(columns, rows); err != nil {
		return err
	}
	a.grow(a.last)
	defer func() {
		for i := range a.args {
			a.args[i].release()
		}
	}()
	args := columns[len(a.query.keys):]
	load := func(_ context.Context, i int) error { return a.args[i].load(a.o.Allocator, args[i], a.keyer == nil) }
	if err := parallel.Each(ctx, len(args), a.o.Parallelism, load); err != nil {
		return err
	}
	mask := func(_ context.Context, i int) error { return a.masks[i].load(a.groups) }
	if err := parallel.Each(ctx, len(a.masks), a.o.Parallelism, mask); err != nil {
		return err
	}
	if err := a.addStates(ctx); err != nil {
		return err
	}
	if a.size() > a.o.limit {
		a.stopGrowing()
	}
	return nil
}

// addStates adds the loaded rows to all states.
func (a *Aggregator) addStates(ctx context.Context) error {
	a.form()
	return parallel.Each(ctx, len(a.alone)+1, a.o.Parallelism, func(_ context.Context, i int) error {
		if i == 0 {
			return a.team.add(a.groups, a.last+1)
		}
		return a.alone[i-1].add()
	})
}

func (r *running) add() error { return r.state.add(r.mask.groups, r.arg) }

// number finds the groups of rows. Those of groups that do not fit go to the spill.
func (a *Aggregator) number(columns []arrow.Array, rows int) error {
	if a.keyer == nil { // one group, of which as many places stay as batches have had
		from := min(len(a.groups), rows)
		a.groups = slices.Grow(a.groups[:from], rows-from)[:rows]
		for i := range a.groups[from:] {
			a.groups[from+i] = 1
		}
		return nil
	}
	a.groups = column.Resized(a.groups, rows)
	if err := a.keyer.Find(a.groups, columns[:len(a.query.keys)]); err != nil {
		return err
	}
	a.last = a.keyer.Len()
	if a.keyer.Full {
		return a.later(columns)
	}
	tables := a.keyer.Size()
	if n := a.keyer.Expected(); n > 2*a.last && float64(n)/float64(a.last)*float64(a.size()-tables) < float64(a.o.limit-tables) {
		a.grow(n)
	}
	return nil
}

// later moves rows without a group to the spill.
func (a *Aggregator) later(columns []arrow.Array) error {
	var rows []int64
	for i, g := range a.groups {
		if g == keys.None {
			rows = append(rows, int64(i))
		}
	}
	if len(rows) == 0 {
		return nil
	}
	if a.spill == nil {
		var err error
		if a.spill, err = spill.New(a.o.spill(), a.query.keyTypes(), a.depth); err != nil {
			return err
		}
	}
	columns = slices.Clone(columns)
	for i, e := range a.query.args { // of one type in all batches
		i += len(a.query.keys)
		columns[i] = arrowutil.Widen(a.o.Allocator, columns[i], e.dt)
		defer columns[i].Release()
	}
	return a.spill.Add(columns, rows)
}

func (a *Aggregator) grow(groups int) {
	for _, r := range a.states {
		r.state.grow(groups)
	}
}

// size is the number of bytes of tables and states.
func (a *Aggregator) size() int64 {
	n := int64(4 * cap(a.groups))
	if a.keyer != nil {
		n += a.keyer.Size()
	}
	for _, r := range a.states {
		n += r.state.size()
	}
	for _, m := range a.masks {
		if m.distinct != nil {
			n += m.distinct.size()
		}
	}
	return n
}

// stopGrowing lets rows of further groups, and of further distinct values, go to temporary files.
func (a *Aggregator) stopGrowing() {
	if a.depth >= spill.MostDepth {
		return
	}
	if a.keyer != nil {
		a.keyer.Full = true
	}
	for _, m := range a.masks {
		if m.distinct != nil {
			m.distinct.keyer.Full = true
		}
	}
}

const resultRows = 32 << 10 // of a batch of results

// First tells which groups may be among the first ones of an order, as ranges of rows, by their results in the first columns of it.
type First struct {
	Columns []int // of the results: the first one is of a call
	Wanted  func(columns []arrow.Array) []rowset.Range
}

// Finish calls f with batches of the results, in no particular order: of all groups, or, unless first is nil, of those that may be among the first ones.
// The batches are released when f returns, but it may retain them.
func (a *Aggregator) Finish(ctx context.Context, first *First, f func(arrow.RecordBatch) error) error {
	for _, m := range a.masks {
		if m.distinct != nil {
			if err := a.finishDistinct(ctx, m); err != nil {
				return err
			}
		}
	}
	for _, r := range a.states {
		if c, ok := r.state.(*collected); ok {
			if err := c.finish(); err != nil {
				return err
			}
		}
	}
	for from := 1; from <= a.last; from += resultRows {
		if err := a.emit(ctx, first, from, min(from+resultRows, a.last+1), f); err != nil {
			return err
		}
	}
	if a.spill == nil {
		return nil
	}
	a.release()
	return a.spill.Each(ctx, func(p *rowfile.File) error { return a.finishPartition(ctx, p, first, f) })
}

// finishDistinct adds the rows of a mask whose values did not fit.
func (a *Aggregator) finishDistinct(ctx context.Context, m *mask) error {
	return m.distinct.finish(ctx, m.arg, func(groups []uint32) error {
		for _, r := range a.states {
			if r.mask == m {
				if err := r.state.add(groups, r.arg); err != nil {
					return err
				}
			}
		}
		return nil
	})
}

// results are those of a call for groups from up to to.
func (a *Aggregator) results(call, from, to int) (arrow.Array, error) {
	arr, err := a.builders[call](from, to)
	if arr == nil && err == nil {
		arr = arrowutil.Nulls(a.o.Allocator, a.query.calls[call].dt, to-from)
	}
	return arr, err
}

// firstColumns are columns of an order for groups from up to to: the first, and the second if it is a key of numbers.
func (a *Aggregator) firstColumns(by []int, from, to int) ([]arrow.Array, error) {
	results, err := a.results(by[0]-a.query.Keys(), from, to)
	if err != nil || len(by) == 1 || by[1] >= len(a.query.keys) || len(a.query.derived) > 0 {
		return []arrow.Array{results}, err
	}
	if k := a.query.keys[by[1]]; !column.HasOrdinals(k.out) || !arrow.TypeEqual(kinds.Decoded(k.dt), k.out) {
		return []arrow.Array{results}, nil
	}
	key, err := a.keyer.Key(by[1], from, to)
	return []arrow.Array{results, key}, err
}

func (a *Aggregator) emit(ctx context.Context, first *First, from, to int, f func(arrow.RecordBatch) error) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if first != nil {
		columns, err := a.firstColumns(first.Columns, from, to)
		defer func() { arrowutil.ReleaseAll(columns) }()
		if err != nil {
			return err
		}
		for _, r := range first.Wanted(columns) {
			if err := a.emit(ctx, nil, from+int(r.From), from+int(r.To), f); err != nil {
				return err
			}
		}
		return nil
	}
	var columns []arrow.Array
	var err error
	defer func() { arrowutil.ReleaseAll(columns) }()
	for i, k := range a.query.keys {
		narrow, err := a.keyer.Key(i, from, to)
		if err != nil {
			return err
		}
		columns = append(columns, arrowutil.Widen(a.o.Allocator, narrow, k.out))
		narrow.Release()
	}
	if columns, err = a.derive(columns, to-from); err != nil {
		return err
	}
	for i := range a.builders {
		arr, err := a.results(i, from, to)
		if err != nil {
			return err
		}
		columns = append(columns, arr)
	}
	batch := array.NewRecordBatch(a.query.schema, columns, int64(to-from))
	defer batch.Release()
	return f(batch)
}

// derive adds the keys that others determine.
func (a *Aggregator) derive(columns []arrow.Array, rows int) ([]arrow.Array, error) {
	if len(a.query.derived) == 0 {
		return columns, nil
	}
	given := make([]arrow.Array, 0, a.query.determining.NumFields())
	for i, k := range a.query.keys {
		if k.determines() != "" {
			given = append(given, columns[i])
		}
	}
	batch := array.NewRecordBatch(a.query.determining, given, int64(rows))
	defer batch.Release()
	for _, d := range a.query.derived {
		arr, err := d.value.Eval(a.o.Allocator, batch)
		if err != nil {
			return columns, err
		}
		columns = slices.Insert(columns, d.at, arr)
	}
	return columns, nil
}

func (a *Aggregator) finishPartition(ctx context.Context, p *rowfile.File, first *First, f func(arrow.RecordBatch) error) error {
	o := *a.o
	o.Rows = 0 // there would be room for the groups of the whole table
	part, err := newAggregator(a.query, &o, a.depth+1)
	if err != nil {
		return err
	}
	defer part.Close()
	if err := p.Each(ctx, func(columns []arrow.Array, rows int) error { return part.add(ctx, columns, rows) }); err != nil {
		return err
	}
	return part.Finish(ctx, first, f)
}

// release frees tables and states.
func (a *Aggregator) release() {
	if a.keyer != nil {
		a.keyer.Release()
	}
	for _, r := range a.states {
		r.state.release()
	}
	for _, m := range a.masks {
		if m.distinct != nil {
			m.distinct.release()
		}
	}
	a.alone, a.team = nil, team{}
	a.keyer, a.states, a.masks, a.byKey, a.maskKeys, a.builders, a.groups = nil, nil, nil, nil, nil, nil, nil
}

// Close releases memory and removes temporary files. It may be called several times.
func (a *Aggregator) Close() {
	a.release()
	a.spill.Close()
	a.spill = nil
}
