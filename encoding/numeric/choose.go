package numeric

import (
	"maps"
	"slices"

	"github.com/amudai/amudai-go/encoding"
	"github.com/amudai/amudai-go/encoding/alp"
)

// hint is what is remembered from block to block about one place in the tree:
// which encodings were worth a trial, and how far estimates were off.
type hint struct {
	memos [numRows]memo
	kids  map[int]*hint
	brief bool         // it is not kept
	alp   []alp.Params // that suited some of the values then, if they are floats
	since int          // blocks since all encodings were tried; 0 if they never were
	every int          // blocks after which they are tried again
	best  int          // row of what was best then
	cost  int64        // of a thousand values then
}

// numRows is how many encodings there are.
const numRows = len(rows)

type memo struct {
	bias   uint32 // actual size / estimate, in 1024ths; 0 if unknown
	decode uint32 // of 1024 values with all parts, in picoseconds
	good   bool   // came close to the best at the last trial
}

const (
	exploreEvery = 32 // blocks, doubled as long as the same is best
	exploreMost  = 512
	exploreAfter = 4   // blocks at least, when the cost has risen
	alwaysBelow  = 256 // values: trying everything costs little
)

// kid is the hint of a part of a tree that has n values. That of a short part is
// not kept, but made in few, and so are those of its parts.
func (h *hint) kid(code encoding.Code, index, n int, few *hint) *hint {
	if n < alwaysBelow || h.brief {
		few.forget()
		return few
	}
	key := int(code)<<3 | index
	k := h.kids[key]
	if k == nil {
		k = &hint{}
		if h.kids == nil {
			h.kids = map[int]*hint{}
		}
		h.kids[key] = k
	}
	return k
}

// cloneHints copies hints with their parts.
func cloneHints(hints map[int]*hint) map[int]*hint {
	out := maps.Clone(hints)
	for key, h := range out {
		c := *h
		c.kids, c.alp = cloneHints(h.kids), slices.Clone(h.alp)
		out[key] = &c
	}
	return out
}

// due tells whether to try all encodings on the next n values.
func (h *hint) due(n int) bool {
	return h.since == 0 || h.since >= h.every || n < alwaysBelow
}

// candidate is an encoding with what it is expected to cost.
type candidate struct {
	row  int
	size int
	cost int64
}

type candidates struct {
	list [numRows]candidate
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
func appendBest[U word](e *enc, dst []byte, in input[U]) []byte {
	n := len(in.values)
	if n == 0 || e.weights.tier == tierPlain {
		return appendAs(e, dst, in, &plan{code: encoding.Plain})
	}
	if in.hint.due(n) {
		return exploreWell(e, dst, in)
	}
	in.hint.since++
	at, decode := len(dst), e.decode
	dst = follow(e, dst, in)
	cost := e.weights.cost(len(dst)-at, e.decode-decode)
	if in.level == 0 && in.hint.since > exploreAfter && 4*cost/int64(n) > 5*in.hint.cost {
		e.decode = decode
		return exploreWell(e, dst[:at], in)
	}
	return dst
}

// exploreWell explores with fast compressors, and then uses better ones if the
// profile has them.
func exploreWell[U word](e *enc, dst []byte, in input[U]) []byte {
	if e.fast || e.weights.level == 0 {
		return explore(e, dst, in)
	}
	at, decode, zstds := len(dst), e.decode, e.zstds
	e.fast = true
	dst = explore(e, dst, in)
	e.fast = false
	if e.zstds == zstds {
		return dst
	}
	e.decode = decode
	return follow(e, dst[:at], in)
}

// explore tries all encodings that may be the best, and remembers how they did.
func explore[U word](e *enc, dst []byte, in input[U]) []byte {
	h := in.hint
	h.since = 1
	s := analyze(e, in, nil)
	var c candidates
	for i := range rows {
		h.memos[i] = memo{}
		if size := e.estimate(&rows[i], s, in.level, in.parent, in.index); size > 0 {
			x := e.candidate(i, size, s)
			if rows[i].nests {
				x.cost -= e.weights.hope(size)
			}
			c.add(x)
		}
	}
	start, decode := len(dst), e.decode
	best, bestDecode, bestSize, bestRow := int64(1)<<62, int64(0), 0, 0
	var costs [numRows]int64
	for _, x := range c.list[:c.n] {
		if x.cost >= best {
			break
		}
		at := len(dst)
		e.decode = decode
		var code encoding.Code
		p := e.plan(&rows[x.row], s, bestSize)
		dst = appendAs(e, dst, in, &p)
		size := len(dst) - at
		code = peek(dst[at:])
		cost := e.penalized(code, size, e.decode-decode)
		h.memos[x.row].bias = uint32(min(max(int64(size)*1024/int64(x.size), 1), 1<<31))
		h.memos[x.row].decode = uint32(min((e.decode-decode)*1024/int64(len(in.values)), 1<<31))
		costs[x.row] = cost
		if cost < best {
			best, bestDecode, bestSize, bestRow = cost, e.decode, size, x.row
			copy(dst[start:], dst[at:])
			dst = dst[:start+size]
		} else {
			dst = dst[:at]
		}
	}
	e.decode = bestDecode
	for i := range costs {
		h.memos[i].good = costs[i] > 0 && 8*costs[i] <= 9*best
	}
	h.cost = best / int64(len(in.values))
	h.found(bestRow)
	h.prune()
	return dst
}

// found notes what was best, and says when to look again.
func (h *hint) found(row int) {
	if h.every == 0 || row != h.best {
		h.every, h.best = exploreEvery, row
		return
	}
	h.every = min(2*h.every, exploreMost)
}

// prune forgets the parts of encodings that were not good.
func (h *hint) prune() {
	for key := range h.kids {
		if !h.good(encoding.Code(key >> 3)) {
			delete(h.kids, key)
		}
	}
}

// forget makes a hint that is not kept as good as new.
func (h *hint) forget() { h.since, h.brief, h.alp = 0, true, h.alp[:0] }

// follow writes the encoding that was found best before, or a better one that
// the statistics show.
func follow[U word](e *enc, dst []byte, in input[U]) []byte {
	h := in.hint
	s := analyze(e, in, h)
	var c candidates
	for i := range rows {
		m := h.memos[i]
		if rows[i].learn && !m.good {
			continue
		}
		size := e.estimate(&rows[i], s, in.level, in.parent, in.index)
		if size == 0 || rows[i].guess(&e.weights) && !m.good {
			continue
		}
		if m.bias > 0 {
			size = max(int(int64(size)*int64(m.bias)/1024), 1)
			c.add(candidate{i, size, e.penalized(rows[i].code, size, int64(m.decode)*int64(s.n)/1024)})
			continue
		}
		c.add(e.candidate(i, size, s))
	}
	start, decode := len(dst), e.decode
	p := e.plan(&rows[c.list[0].row], s, 0)
	dst = appendAs(e, dst, in, &p)
	cost := e.penalized(peek(dst[start:]), len(dst)-start, e.decode-decode)
	if c.n == 1 || 16*cost <= 17*c.list[1].cost {
		return dst
	}
	// Not what was expected: see whether the second is better.
	at, first := len(dst), e.decode
	e.decode = decode
	p = e.plan(&rows[c.list[1].row], s, at-start)
	dst = appendAs(e, dst, in, &p)
	if e.penalized(peek(dst[at:]), len(dst)-at, e.decode-decode) >= cost {
		e.decode = first
		return dst[:at]
	}
	return append(dst[:start], dst[at:]...)
}

// guess tells whether the estimate holds only with what a trial has shown.
func (r *row) guess(w *weights) bool {
	switch r.code {
	case encoding.Delta, encoding.TruncateU8, encoding.TruncateU16, encoding.TruncateU32, encoding.Narrow:
		return w.tier >= tierHeavy
	case encoding.PatchedPack, encoding.CommonDivisor:
		return true // the statistics are gathered only if it was good
	}
	return false
}

// good tells whether an encoding did well at the last trial.
func (h *hint) good(code encoding.Code) bool { return h.memos[rowOf(code)].good }

// wants tells whether to think of an encoding; h is nil to think of all.
func (h *hint) wants(code encoding.Code) bool { return h == nil || h.good(code) }

// estimate is the size of values in an encoding, 0 if it is not to be tried.
func (e *enc) estimate(r *row, s *stats, level int, parent encoding.Code, index int) int {
	if r.tier > e.weights.tier || level > r.levels || !r.types.has(s.t) || r.estimate == nil || r.needs&^e.features != 0 ||
		!fits(r.code, parent, index) {
		return 0
	}
	if e.weights.tier == tierLight && level > 1 && r.code != encoding.FFOR && r.code != encoding.FLBitPack && r.tier != tierPlain {
		return 0
	}
	return r.estimate(&e.weights, s)
}

// fits tells whether an encoding makes sense as a part of another one.
func fits(code, parent encoding.Code, index int) bool {
	simple := code == encoding.Plain || code == encoding.SingleValue
	switch parent {
	case encoding.BlockDictionary:
		return index == 1 && code != parent || simple || code == encoding.FLBitPack || code == encoding.FFOR ||
			code == encoding.RunLength || code == encoding.Zstd || code == encoding.Narrow || code == encoding.PatchedPack ||
			code == encoding.PrefixBins || code == encoding.TightPack
	case encoding.RunLength:
		return code != encoding.RunLength && code != encoding.Sparse && code != encoding.FOR
	case encoding.FOR:
		return simple || code == encoding.Sparse
	case encoding.TruncateU8, encoding.TruncateU16, encoding.TruncateU32, encoding.TruncateU64, encoding.Narrow:
		return simple || code == encoding.Zstd || code == encoding.LZ4 || code == encoding.BytePlanes || code == encoding.PrefixBins
	case encoding.Sparse:
		return code != encoding.Sparse && code != encoding.FOR
	case encoding.BytePlanes:
		return simple || code == encoding.FLBitPack || code == encoding.RunLength || code == encoding.Zstd
	case encoding.CommonDivisor, encoding.PatchedPack:
		return code != parent
	}
	return true
}

// candidate is what an encoding of row i of some size is expected to cost, apart
// from its parts.
func (e *enc) candidate(i, size int, s *stats) candidate {
	decode := rows[i].decodeCost(s.t, s.n)
	if rows[i].code == encoding.RunLength {
		decode += perRun * int64(s.runs)
	}
	return candidate{row: i, size: size, cost: e.penalized(rows[i].code, size, decode)}
}

// penalized is the cost of a tree. In Balanced, LZ4 has to save a quarter.
func (e *enc) penalized(code encoding.Code, size int, decode int64) int64 {
	if code == encoding.LZ4 && e.weights.tier == tierMiddle {
		size += size / 3
	}
	return e.weights.cost(size, decode)
}

// plan tells an encoding what the statistics already say. size is what the best
// other one takes, 0 if unknown.
func (e *enc) plan(r *row, s *stats, size int) plan {
	p := plan{code: r.code, level: e.weights.level}
	if e.fast {
		p.level = 0
	}
	switch r.code {
	case encoding.FLBitPack:
		p.width = s.maxWidth
	case encoding.FFOR, encoding.TightPack:
		p.reference, p.width = s.low, s.width
	case encoding.FOR:
		p.reference, p.width = s.top, s.width
	case encoding.PatchedPack:
		p.reference, p.width = s.patch.base, s.patch.width
	case encoding.CommonDivisor:
		p.reference = s.divisor
	case encoding.BlockDictionary:
		p.limit = s.n / 2
		if size > 0 {
			p.limit = min(p.limit, size)
		}
	}
	return p
}
