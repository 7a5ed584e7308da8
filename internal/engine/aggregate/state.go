package aggregate

import (
	"math/bits"
	"slices"
	"unsafe"

	"github.com/apache/arrow-go/v18/arrow/decimal128"

	"github.com/amudai/amudai-go/internal/base/fault"
	"github.com/amudai/amudai-go/internal/engine/aggregate/internal/column"
	"github.com/amudai/amudai-go/internal/engine/aggregate/internal/keys"
)

// A state is what an aggregate knows of each group. States are independent of each other: several goroutines add the rows of a
// batch to one each. Every state sees the rows in their order, so that results do not depend on the number of goroutines.
type state interface {
	// grow makes room for groups up to a number.
	grow(groups int)
	// add adds rows: groups has the group of each, arg the values. A value may be null only if its group is none. arg is nil for
	// states of rows.
	add(groups []uint32, arg *argument) error
	// size is the number of bytes in memory.
	size() int64
	release()
}

// perGroup is a value of each group. It is the part that most states have in common.
type perGroup[T any] struct {
	n     []T
	first T // of new groups
}

// grow makes room. The memory is doubled if need be, as append does not.
func (p *perGroup[T]) grow(groups int) {
	if groups >= cap(p.n) {
		p.n = slices.Grow(p.n, max(groups+1, 2*len(p.n))-len(p.n))
	}
	from := len(p.n)
	p.n = p.n[:max(groups+1, from)]
	for i := range p.n[from:] {
		p.n[from+i] = p.first
	}
}

func (p *perGroup[T]) size() int64 { return int64(cap(p.n)) * int64(unsafe.Sizeof(p.first)) }
func (p *perGroup[T]) release()    {}

// lanes are the places where small groups are counted and summed for a batch. Each row adds to the next of four, so that a row need
// not wait for the one before it.
const (
	lanes      = 4
	laneGroups = 1 << 10 // most groups of such places
	laneRows   = 1 << 18 // most rows that are summed there
	laneValue  = 1 << 44 // integers that are summed there are at least its negative, and less than it
)

// counts is the number of rows of each group.
type counts struct {
	perGroup[int64]
	lanes [lanes][]uint32
}

func (c *counts) add(groups []uint32, _ *argument) error {
	if len(c.n) > laneGroups {
		n := c.n
		for _, g := range groups {
			n[g]++
		}
		return nil
	}
	for i := range c.lanes {
		c.lanes[i] = column.Resized(c.lanes[i], len(c.n))
		clear(c.lanes[i])
	}
	a, b, x, y := c.lanes[0], c.lanes[1], c.lanes[2], c.lanes[3]
	for len(groups) >= lanes {
		a[groups[0]]++
		b[groups[1]]++
		x[groups[2]]++
		y[groups[3]]++
		groups = groups[lanes:]
	}
	for _, g := range groups {
		a[g]++
	}
	for i := range c.n {
		c.n[i] += int64(a[i]) + int64(b[i]) + int64(x[i]) + int64(y[i])
	}
	return nil
}

// nulls is the number of rows of each group whose value is null. It has no memory until there is one.
type nulls struct {
	counts
	groups int
}

func (c *nulls) grow(groups int) { c.groups = groups }

func (c *nulls) of(group int) int64 {
	if group < len(c.n) {
		return c.n[group]
	}
	return 0
}

func (c *nulls) add(groups []uint32, arg *argument) error {
	if arg.nulls == 0 {
		return nil
	}
	c.counts.grow(c.groups)
	arg.valid.EachClear(func(i int) { c.n[groups[i]]++ })
	return nil
}

// sums is the exact sum of integers or decimals of each group: the lower halves of 128 bits, and the upper ones since a sum has needed more than 64.
type sums struct {
	perGroup[int64]
	high  perGroup[int64]
	wide  bool // there are upper halves
	large bool // some integer has been too large for a team
}

func (s *sums) grow(groups int) {
	s.perGroup.grow(groups)
	if s.wide {
		s.high.grow(groups)
	}
}

func (s *sums) size() int64 { return s.perGroup.size() + s.high.size() }

// of is the sum of a group.
func (s *sums) of(g int) decimal128.Num {
	if s.wide {
		return decimal128.New(s.high.n[g], uint64(s.n[g]))
	}
	return decimal128.FromI64(s.n[g])
}

// addTo adds a number of 128 bits to a group. It reports false if the sum needs more.
func (s *sums) addTo(g int, hi, lo int64) bool {
	if g == keys.None {
		return true
	}
	sum, carry := bits.Add64(uint64(s.n[g]), uint64(lo), 0)
	if !s.wide {
		if fits(s.n[g], lo) && hi == lo>>63 {
			s.n[g] = int64(sum)
			return true
		}
		s.wide = true
		s.high.grow(len(s.n) - 1)
		for g, lo := range s.n {
			s.high.n[g] = lo >> 63
		}
	}
	before := s.high.n[g]
	after := before + hi + int64(carry)
	s.n[g], s.high.n[g] = int64(sum), after
	return (before^after)&(hi^after) >= 0
}

// fits reports whether a sum has 64 bits.
func fits(x, y int64) bool { return (x^(x+y))&(y^(x+y)) >= 0 }

func (s *sums) add(groups []uint32, arg *argument) error {
	v, ok := arg.column.Integers()
	if !ok {
		return s.addNumbers(groups, arg)
	}
	n := s.n
	for i, g := range groups {
		if x, to := v[i], &n[g]; !s.wide && fits(*to, x) {
			*to += x
		} else {
			s.addTo(int(g), x>>63, x)
		}
	}
	return nil
}

// addAll adds all integers to group 1. It reports false, and adds nothing, if they are no integers, or too many.
func (s *sums) addAll(rows int, arg *argument) bool {
	if rows > laneRows {
		return false
	}
	hi, lo, ok := arg.column.Sum()
	if ok {
		s.addTo(1, lo>>63, lo)
		s.addTo(1, hi>>32, hi<<32)
	}
	return ok
}

func (s *sums) addNumbers(groups []uint32, arg *argument) error {
	v, ok := arg.column.Numbers()
	if !ok {
		return fault.Limitf("%s: a value of more than 128 bits", arg.name)
	}
	for i, g := range groups {
		if !s.addTo(int(g), v[i].HighBits(), int64(v[i].LowBits())) {
			return fault.Limitf("the sum of %s needs more than 128 bits", arg.name)
		}
	}
	return nil
}

// realSums is the sum of floats of each group.
type realSums struct{ perGroup[column.RealSum] }

func (s *realSums) add(groups []uint32, arg *argument) error {
	for i, x := range arg.column.Reals() {
		s.n[groups[i]].Add(x)
	}
	return nil
}

// moments is the mean and the sum of squared differences from it of each group (Welford 1962).
type moments struct{ perGroup[moment] }

type moment struct{ count, mean, squares float64 }

func (m *moments) add(groups []uint32, arg *argument) error {
	n := m.n
	for i, x := range arg.column.Reals() {
		to := &n[groups[i]]
		to.count++
		d := x - to.mean
		to.mean += d / to.count
		to.squares += d * (x - to.mean)
	}
	return nil
}

// mask is the rows that a state sees: those that meet a condition, whose value is not null, and is new if it must be distinct.
type mask struct {
	arg      *argument // whose nulls are left out; nil for none
	where    *argument // the condition, nil for none
	distinct *distinct // nil for all values

	wantsDistinct bool
	groups        []uint32
	buf           []uint32
}

// load finds the groups of the rows of a batch, with none for rows that are left out.
func (m *mask) load(groups []uint32) error {
	m.groups = groups
	if m.where == nil && m.distinct == nil && (m.arg == nil || m.arg.nulls == 0) {
		return nil
	}
	m.buf = append(m.buf[:0], groups...)
	m.groups = m.buf
	clearGroup := func(i int) { m.buf[i] = keys.None }
	if m.where != nil {
		if m.where.nulls > 0 {
			m.where.valid.EachClear(clearGroup)
		}
		column.BitsOf(m.where.column.Array).EachClear(clearGroup)
	}
	if m.arg != nil && m.arg.nulls > 0 {
		m.arg.valid.EachClear(clearGroup)
	}
	if m.distinct != nil {
		return m.distinct.filter(m.buf, m.arg)
	}
	return nil
}
