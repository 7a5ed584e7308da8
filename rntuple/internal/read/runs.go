package read

import "math/bits"

// A run is neighbouring elements of a column or field in a cluster, or with from
// below 0 elements that are absent: they get zeros, and cost no read.
type run struct{ from, n int64 }

func (r run) absent() bool { return r.from < 0 }

const absent = -1

// runs are elements in the order in which an array has them.
type runs []run

// add appends elements, joined to the last run if they follow it.
func (rs runs) add(from, n int64) runs {
	if n == 0 {
		return rs
	}
	if k := len(rs) - 1; k >= 0 {
		last := &rs[k]
		if last.absent() && from < 0 || !last.absent() && from == last.from+last.n {
			last.n += n
			return rs
		}
	}
	return append(rs, run{max(from, absent), n})
}

// len is the number of elements.
func (rs runs) len() (n int64) {
	for _, r := range rs {
		n += r.n
	}
	return n
}

// times are the runs of the items of arrays of n items each.
func (rs runs) times(n int64) runs {
	out := make(runs, len(rs))
	for i, r := range rs {
		out[i] = run{r.from * n, r.n * n}
		if r.absent() {
			out[i].from = absent
		}
	}
	return out
}

// scale are the runs in a column of m elements that lie where rs do among n, rounded
// outwards.
func (rs runs) scale(n, m int64) runs {
	if n == m {
		return rs
	}
	if n == 0 || len(rs) == 0 {
		return nil
	}
	out := make(runs, 0, len(rs))
	for _, r := range rs {
		if r.absent() {
			continue
		}
		from := mulDiv(r.from, m, n)
		to := min(mulDiv(r.from+r.n, m, n)+1, m)
		if k := len(out) - 1; k >= 0 {
			from = max(from, out[k].from+out[k].n)
		}
		if from < to {
			out = out.add(from, to-from)
		}
	}
	return out
}

// mulDiv is a*b/c, where the product may have 128 bits and the quotient has 63.
func mulDiv(a, b, c int64) int64 {
	high, low := bits.Mul64(uint64(a), uint64(b))
	q, _ := bits.Div64(high, low, uint64(c))
	return int64(q)
}
