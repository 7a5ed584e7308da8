package encode

import (
	"github.com/amudai/amudai-go/encoding"
	"github.com/amudai/amudai-go/encoding/numeric/internal/word"
)

// candidate is an encoding with what it is expected to cost.
type candidate struct {
	row   int
	size  int
	cost  int64
	found Found
}

type candidates struct {
	list [maxRows]candidate
	n    int
}

// add keeps the list in the order of cost.
func (c *candidates) add(x candidate) {
	i := c.n
	for ; i > 0 && c.list[i-1].cost > x.cost; i-- {
		c.list[i] = c.list[i-1]
	}
	c.list[i] = x
	c.n++
}

// appendBest writes a tree of the encodings that cost least.
func appendBest[U word.Uint](e *Workspace, dst []byte, in Input[U]) []byte {
	n := len(in.Values)
	if n == 0 || e.Weights.Tier == TierPlain {
		return appendAs(e, dst, in, Plan{Code: encoding.Plain})
	}
	if in.Hint.due(n) {
		return exploreWell(e, dst, in)
	}
	in.Hint.since++
	at, decode := len(dst), e.Decode
	dst = follow(e, dst, in)
	cost := e.Weights.Cost(len(dst)-at, e.Decode-decode)
	if in.level == 0 && in.Hint.since > exploreAfter && 4*cost/int64(n) > 5*in.Hint.cost {
		e.Decode = decode
		return exploreWell(e, dst[:at], in)
	}
	return dst
}

// exploreLen is how many values are enough for exploring where nearly all encodings are worth a trial.
const exploreLen = 8 << 10

// exploreWell explores a part of a long sequence, if nearly all encodings are worth a trial, and writes the whole as was
// best for that. In edition reference, whose bytes stay the same, it always explores the whole.
func exploreWell[U word.Uint](e *Workspace, dst []byte, in Input[U]) []byte {
	n := len(in.Values)
	if n < 2*exploreLen || e.Weights.Tier < TierHeavy || e.Weights.Features == 0 {
		return exploreFast(e, dst, in)
	}
	part, at, decode, left := in, len(dst), e.Decode, e.left
	from := (n - exploreLen) / 2
	part.Values, part.Nulls = in.Values[from:from+exploreLen], 0 // the values under nulls are filled
	fast := e.Fast
	e.Fast = true
	dst = explore(e, dst, part)
	e.Fast = fast
	e.Decode = decode
	if in.Hint.since == 0 { // the tree around it costs too much already
		return AppendPlain(dst[:at], in.Values)
	}
	expected := in.Hint.cost
	dst = follow(e, dst[:at], in)
	in.Hint.cost = e.Weights.Cost(len(dst)-at, e.Decode-decode) / int64(n)
	if 4*in.Hint.cost > 5*expected { // the part is not like the whole
		e.Decode, e.left, in.Hint.kids = decode, left, nil
		return exploreFast(e, dst[:at], in)
	}
	return dst
}

// exploreFast explores with fast compressors, and then uses better ones if the profile has them.
func exploreFast[U word.Uint](e *Workspace, dst []byte, in Input[U]) []byte {
	if e.Fast || e.Weights.level == 0 {
		return explore(e, dst, in)
	}
	at, decode, zstds := len(dst), e.Decode, e.zstds
	e.Fast = true
	dst = explore(e, dst, in)
	e.Fast = false
	if e.zstds == zstds {
		return dst
	}
	e.Decode = decode
	return follow(e, dst[:at], in)
}

// explore tries all encodings that may be the best, and remembers how they did. A trial that costs more than what is known to be possible, or than
// the tree around it may, is not completed.
func explore[U word.Uint](e *Workspace, dst []byte, in Input[U]) []byte {
	h, outer := in.Hint, e.limit
	start, decode := len(dst), e.Decode
	left := outer - e.Weights.Cost(start, decode)
	if left <= 0 {
		h.since = 0
		return AppendPlain(dst, in.Values)
	}
	h.begin(len(e.table.rows))
	s := analyze(e, in)
	c := &e.levels[in.level].candidates
	c.n = 0
	sure := noLimit
	for i, r := range e.table.rows {
		if size, found := estimate(e, r, in, s); size > 0 {
			x := e.candidate(i, size, found, s)
			if r.Nests {
				x.cost -= e.Weights.hope(r, size)
			} else if r.Guess == 0 {
				sure = min(sure, x.cost)
			}
			c.add(x)
		}
	}
	best, bestDecode, bestSize, bestRow := noLimit, int64(0), 0, 0
	tried := 0
	for ; tried < c.n; tried++ {
		x := &c.list[tried]
		if x.cost >= min(best, 4*left) || tried > 0 && e.exhausted() { // parts of parts may surprise again
			break
		}
		at := len(dst)
		e.Decode = decode
		e.limit = e.Weights.Cost(at, decode) + min(left, close(min(best, sure)))
		dst = appendAs(e, dst, in, e.plan(x, s, bestSize))
		size := len(dst) - at
		m := &h.memos[x.row]
		m.bias = uint32(min(max(int64(size)*1024/int64(x.size), 1), 1<<31))
		m.decode = uint32(min((e.Decode-decode)*1024/int64(len(in.Values)), 1<<31))
		x.cost = e.Weights.Cost(size, e.Decode-decode)
		if x.cost < best {
			best, bestDecode, bestSize, bestRow = x.cost, e.Decode, size, x.row
			copy(dst[start:], dst[at:])
			dst = dst[:start+size]
		} else {
			dst = dst[:at]
		}
	}
	e.limit = outer
	if best >= left { // not known what is best
		h.since = 0
		if tried == 0 {
			return AppendPlain(dst, in.Values)
		}
		e.Decode = bestDecode
		return dst
	}
	e.Decode = bestDecode
	for _, x := range c.list[:tried] {
		h.memos[x.row].good = x.cost > 0 && x.cost <= close(best)
	}
	h.cost = best / int64(len(in.Values))
	h.found(bestRow)
	h.prune(e.table)
	return dst
}

// noLimit is more than anything costs.
const noLimit = int64(1) << 60

// close is the cost up to which an encoding is worth following, where the best costs some.
func close(best int64) int64 { return best + best/8 }

// follow writes the encoding that was found best before, or a better one that the statistics show.
func follow[U word.Uint](e *Workspace, dst []byte, in Input[U]) []byte {
	h := in.Hint
	s := analyze(e, in)
	c := &e.levels[in.level].candidates
	c.n = 0
	for i, r := range e.table.rows {
		m := h.memos[i]
		if r.guesses(e.Weights.Tier) && !m.good {
			continue
		}
		size, found := estimate(e, r, in, s)
		if size == 0 {
			continue
		}
		if m.bias > 0 {
			size = max(int(int64(size)*int64(m.bias)/1024), 1)
			c.add(candidate{i, size, e.Weights.Cost(size, int64(m.decode)*int64(s.N)/1024), found})
			continue
		}
		c.add(e.candidate(i, size, found, s))
	}
	start, decode, n := len(dst), e.Decode, c.n
	first, second := c.list[0], c.list[1] // parts use their own level's list
	dst = appendAs(e, dst, in, e.plan(&first, s, 0))
	cost := e.Weights.Cost(len(dst)-start, e.Decode-decode)
	if n == 1 || 16*cost <= 17*second.cost {
		return dst
	}
	// Not what was expected: see whether the second is better.
	at, firstDecode := len(dst), e.Decode
	e.Decode = decode
	limit := e.limit
	e.limit = min(limit, e.Weights.Cost(at, decode)+cost)
	dst = appendAs(e, dst, in, e.plan(&second, s, at-start))
	e.limit = limit
	if e.Weights.Cost(len(dst)-at, e.Decode-decode) >= cost {
		e.Decode = firstDecode
		return dst[:at]
	}
	return append(dst[:start], dst[at:]...)
}

// estimate is the size of values in an encoding, 0 if it is not to be tried.
func estimate[U word.Uint](e *Workspace, r *Row, in Input[U], s *Stats) (size int, found Found) {
	w, levels, roles := &e.Weights, r.Levels, r.Roles
	if w.Features != 0 {
		roles |= r.Later
		if w.Tier >= TierHeavy {
			levels -= r.Fewer
		}
	}
	if r.Estimate == nil || r.Tier > w.Tier || in.level-in.free > levels || !w.allows(r, s.T) ||
		!roles.has(in.role) || r.Once && in.parent == r.Code ||
		e.Codes && in.level == 0 && (r.Code == encoding.BlockDictionary || r.Code == encoding.LZ4) {
		return 0, found
	}
	if w.Tier == TierLight && in.level-in.free > 1 && r.Nests {
		return 0, found
	}
	if look := codecOf[U](r).Look; look != nil {
		if s.Single {
			return 0, found
		}
		found = look(e, in, s)
	}
	return r.Estimate(w, s, found), found
}

// candidate is what an encoding of row i of some size is expected to cost, apart from its parts.
func (e *Workspace) candidate(i, size int, found Found, s *Stats) candidate {
	r := e.table.rows[i]
	decode := r.decodeCost(s.T, s.N)
	if r.More != nil {
		decode += r.More(s)
	}
	return candidate{row: i, size: size, cost: e.Weights.Cost(size, decode), found: found}
}

// plan tells an encoding what the statistics already say. size is what the best other one takes, 0 if unknown.
func (e *Workspace) plan(x *candidate, s *Stats, size int) (p Plan) {
	r := e.table.rows[x.row]
	if r.Plan != nil {
		p = r.Plan(s, x.found, size)
	}
	p.Code, p.Level = r.Code, e.Weights.level
	if e.Fast {
		p.Level = 0
	}
	return p
}
