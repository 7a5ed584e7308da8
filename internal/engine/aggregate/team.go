package aggregate

import "github.com/amudai/amudai-go/internal/engine/aggregate/internal/column"

// A team is a count and sums that see the same rows. Two or three sums are added in one pass, because finding the place of a group takes as
// long as adding to it.
type team struct {
	counts  *counts
	sums    []*running
	tallies []tally // lanes of each group
}

// tally is the number of rows, and the sums of columns.
type tally struct {
	rows int64
	sums [teamSums]int64
}

const (
	teamSums   = 3
	teamGroups = 1 << 8 // most groups, so that tallies stay in the cache
)

// form makes teams of those states that count and sum all rows of the batch, if groups are few. The others are alone. If all rows are one group, they
// are added at once.
func (a *Aggregator) form() {
	a.alone, a.team.sums, a.team.counts = a.alone[:0], a.team.sums[:0], nil
	few := len(a.groups) > 0 && len(a.groups) <= laneRows && a.last < teamGroups
	one := a.keyer == nil && a.last == 1
	for _, r := range a.states {
		t := &a.team
		if len(a.groups) > 0 && &r.mask.groups[0] == &a.groups[0] {
			switch s := r.state.(type) {
			case *counts:
				if one {
					s.n[1] += int64(len(a.groups))
					continue
				}
				if few && t.counts == nil {
					t.counts = s
					continue
				}
			case *sums:
				if one && s.addAll(len(a.groups), r.arg) {
					continue
				}
				if r.arg.column.Exact() && few && !s.large && len(t.sums) < teamSums {
					t.sums = append(t.sums, r)
					continue
				}
			}
		} else if _, ok := r.state.(*sums); ok {
			r.arg.column.Exact()
		}
		a.alone = append(a.alone, r)
	}
}

// add adds rows of groups below n.
func (t *team) add(groups []uint32, n int) error {
	if t.counts != nil && len(t.sums) > 1 && t.addTallies(groups, n) {
		return nil
	}
	if t.counts != nil {
		if err := t.counts.add(groups, nil); err != nil {
			return err
		}
	}
	for _, r := range t.sums {
		if err := r.add(); err != nil {
			return err
		}
	}
	return nil
}

// addTallies sums integers of 64 bits first. It reports false, and adds nothing, if one is so large that these may overflow.
func (t *team) addTallies(groups []uint32, n int) bool {
	var v [teamSums][]int64
	for i, r := range t.sums {
		v[i], _ = r.arg.column.Integers()
	}
	t.tallies = column.Resized(t.tallies, lanes*n)
	clear(t.tallies)
	all := tallyThree(t.tallies, groups, v[0], v[1], v[len(t.sums)-1]) // the last one twice if there are two
	if all >= 2*laneValue {
		for _, r := range t.sums {
			r.state.(*sums).large = true
		}
		return false
	}
	for g := range n {
		for _, l := range t.tallies[lanes*g : lanes*(g+1)] {
			t.counts.n[g] += l.rows
			for i, r := range t.sums {
				r.state.(*sums).addTo(g, l.sums[i]>>63, l.sums[i])
			}
		}
	}
	return true
}

// tallyThree counts rows, and adds values of three columns. The result is less than 2*laneValue if all values are within the range of lanes.
func tallyThree(to []tally, groups []uint32, v, w, u []int64) (all uint64) {
	v, w, u = v[:len(groups)], w[:len(groups)], u[:len(groups)]
	for i, g := range groups {
		x, y, z := v[i], w[i], u[i]
		all |= uint64(x+laneValue) | uint64(y+laneValue) | uint64(z+laneValue)
		t := &to[lanes*int(g)+i%lanes]
		t.rows++
		t.sums[0] += x
		t.sums[1] += y
		t.sums[2] += z
	}
	return all
}
