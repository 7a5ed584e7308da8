package pattern

import (
	"encoding/binary"
	"regexp/syntax"
	"slices"
	"unicode"
	"unicode/utf8"

	"github.com/amudai/amudai-go/internal/base/search"
)

// automaton is a regular expression as what a deterministic automaton is made of: its program, and the characters in classes, between which no
// instruction of it makes a difference. It does not change.
type automaton struct {
	prog    *syntax.Prog
	from    []rune  // where intervals of characters begin, the first at 0
	classes []uint8 // the class of each interval
	of      []rune  // a character of each class
	ascii   [utf8.RuneSelf]uint8
	around  bool // instructions ask for the characters around a place

	any    []int                     // all classes
	digits map[search.PartKind][]int // those of the characters of fields
}

const (
	maxClasses = 250
	maxTests   = 1 << 20 // of a character by an instruction, to find the classes
	maxProgram = 1 << 12 // instructions
)

// newAutomaton is nil for expressions whose classes take long to find, or are many.
func newAutomaton(re *syntax.Regexp) *automaton {
	prog, err := syntax.Compile(re)
	if err != nil || len(prog.Inst) > maxProgram {
		return nil
	}
	a := &automaton{prog: prog, from: []rune{0}}
	var tests []*syntax.Inst
	for i := range prog.Inst {
		switch in := &prog.Inst[i]; in.Op {
		case syntax.InstEmptyWidth:
			a.around = true
		case syntax.InstRune, syntax.InstRune1, syntax.InstRuneAny, syntax.InstRuneAnyNotNL:
			tests = append(tests, in)
			a.divide(in)
		}
	}
	if a.around {
		for _, r := range "\n\n09AZ__az" {
			a.from = append(a.from, r, r+1)
		}
	}
	slices.Sort(a.from)
	a.from = slices.Compact(a.from)
	if len(a.from)*len(tests) > maxTests || !a.classify(tests) {
		return nil
	}
	for r := range a.ascii {
		a.ascii[r] = a.class(rune(r))
	}
	for class := range a.of {
		a.any = append(a.any, class)
	}
	a.digits = map[search.PartKind][]int{search.Digits: a.classesOf("0123456789"), search.HexLower: a.classesOf("0123456789abcdef"), search.HexUpper: a.classesOf("0123456789ABCDEF")}
	return a
}

// divide adds where the characters that an instruction takes begin and end.
func (a *automaton) divide(in *syntax.Inst) {
	if len(in.Rune) != 1 {
		for i, r := range in.Rune {
			a.from = append(a.from, r+rune(i%2))
		}
		return
	}
	first := in.Rune[0]
	for r := first; ; {
		a.from = append(a.from, r, r+1)
		if r = unicode.SimpleFold(r); r == first {
			return
		}
	}
}

// classify gives a class to each interval; false if there are too many.
func (a *automaton) classify(tests []*syntax.Inst) bool {
	known := map[string]uint8{}
	var key []byte
	for _, r := range a.from {
		key = append(key[:0], a.kind(r))
		for _, in := range tests {
			if in.MatchRune(r) {
				key = append(key, 1)
			} else {
				key = append(key, 0)
			}
		}
		class, ok := known[string(key)]
		if !ok {
			if len(a.of) == maxClasses {
				return false
			}
			class = uint8(len(a.of))
			known[string(key)] = class
			a.of = append(a.of, r)
		}
		a.classes = append(a.classes, class)
	}
	return true
}

// classesOf are the classes of some characters.
func (a *automaton) classesOf(text string) (all []int) {
	for _, r := range text {
		all = append(all, int(a.class(r)))
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// class is the class of a character.
func (a *automaton) class(r rune) uint8 {
	i, found := slices.BinarySearch(a.from, r)
	if !found {
		i--
	}
	return a.classes[i]
}

// kind is what the instructions may ask about the character before a place: the character itself, or one like it.
func (a *automaton) kind(r rune) byte {
	switch {
	case !a.around:
		return 0
	case r == outside || r == '\n':
		return byte(r)
	case syntax.IsWordChar(r):
		return 'a'
	}
	return ' '
}

// outside stands for the character before the beginning and behind the end.
const outside = -1

// machine is the states of an automaton that were met so far, in rows of the states that follow by class, and at the end. Their number is bounded: all are forgotten
// when there are too many.
//
//	row          0: unknown   1: matched   2: failed   3: the first
//	next[row*width+class]     the place of the next row
type machine struct {
	*automaton
	width  int
	next   []int32
	known  map[string]int32
	states [][]byte // by row: the character before it, and the instructions that wait for the next
	slow   bool     // there are states over and over

	reached, passed []int32 // rows

	forgotten int
	set, seen []uint32
	stack     []uint32
	key       []byte
}

const (
	unknown      = 0
	maxCells     = 1 << 16 // of next
	maxForgotten = 4
)

func newMachine(a *automaton) *machine {
	m := &machine{automaton: a, width: len(a.of) + 1, seen: make([]uint32, len(a.prog.Inst))}
	m.forget()
	return m
}

// forget begins anew with the first state.
func (m *machine) forget() {
	m.known = map[string]int32{}
	m.states, m.next = append(m.states[:0], nil, nil, nil), append(m.next[:0], make([]int32, 3*m.width)...)
	m.set = m.set[:0]
	m.row(m.kind(outside))
}

// row is the place of the row of the set of instructions that wait, behind a character.
func (m *machine) row(before byte) int32 {
	slices.Sort(m.set)
	m.key = append(m.key[:0], before)
	for _, pc := range m.set {
		m.key = binary.LittleEndian.AppendUint32(m.key, pc)
	}
	if at, ok := m.known[string(m.key)]; ok {
		return at
	}
	at := int32(len(m.next))
	m.next = append(m.next, make([]int32, m.width)...)
	m.states = append(m.states, slices.Clone(m.key))
	m.known[string(m.key)] = at
	return at
}

// step is the place of the row that follows another by a class, or at the end.
func (m *machine) step(at int32, class int) int32 {
	state, after := m.states[int(at)/m.width], rune(outside)
	if class < len(m.of) {
		after = m.of[class]
	}
	before := rune(int8(state[0]))
	looks := syntax.EmptyOp(0)
	if m.around {
		looks = syntax.EmptyOpContext(before, after)
	}
	clear(m.seen)
	m.set, m.stack = m.set[:0], append(m.stack[:0], uint32(m.prog.Start))
	for state = state[1:]; len(state) > 0; state = state[4:] {
		m.stack = append(m.stack, binary.LittleEndian.Uint32(state))
	}
	next := int32(2 * m.width)
	if m.follow(looks, after) {
		next = int32(m.width)
	} else if after != outside {
		if len(m.next) > maxCells {
			set := slices.Clone(m.set)
			m.forget()
			m.forgotten++
			m.slow = m.forgotten > maxForgotten
			m.set = append(m.set[:0], set...)
			return m.row(m.kind(after))
		}
		next = m.row(m.kind(after))
	}
	m.next[int(at)+class] = next
	return next
}

// follow collects the instructions that wait behind a character, for those on the stack; true if the expression matches before it.
func (m *machine) follow(looks syntax.EmptyOp, after rune) (matched bool) {
	const reached, waits = 1, 2
	for len(m.stack) > 0 {
		pc := m.stack[len(m.stack)-1]
		m.stack = m.stack[:len(m.stack)-1]
		if m.seen[pc]&reached != 0 {
			continue
		}
		m.seen[pc] |= reached
		switch in := &m.prog.Inst[pc]; in.Op {
		case syntax.InstMatch:
			return true
		case syntax.InstAlt, syntax.InstAltMatch:
			m.stack = append(m.stack, in.Out, in.Arg)
		case syntax.InstCapture, syntax.InstNop:
			m.stack = append(m.stack, in.Out)
		case syntax.InstEmptyWidth:
			if syntax.EmptyOp(in.Arg)&^looks == 0 {
				m.stack = append(m.stack, in.Out)
			}
		case syntax.InstFail:
		default:
			if after != outside && m.seen[in.Out]&waits == 0 && in.MatchRune(after) {
				m.seen[in.Out] |= waits
				m.set = append(m.set, in.Out)
			}
		}
	}
	return false
}

// match reports whether the expression is found in a value.
func (m *machine) match(value []byte) bool {
	const first = 3
	at, matched, next, ascii := int32(first*m.width), int32(m.width), m.next, &m.ascii
	for i := 0; i < len(value); {
		class := 0
		if c := value[i]; c < utf8.RuneSelf {
			class = int(ascii[c])
			i++
		} else {
			r, n := utf8.DecodeRune(value[i:])
			class = int(m.class(r))
			i += n
		}
		to := next[int(at)+class]
		if to <= matched {
			if to == unknown {
				to = m.step(at, class)
				next = m.next
			}
			if to == matched {
				return true
			}
		}
		at = to
	}
	end := next[int(at)+m.width-1]
	if end == unknown {
		end = m.step(at, m.width-1)
	}
	return end == matched
}
