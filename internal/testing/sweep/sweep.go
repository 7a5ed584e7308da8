// Package sweep controls the extent of tests that sweep over every bit, cut, fault, golden file
// or seed. "make test" runs a selection of each sweep, so that it ends within minutes. "make
// sweep" sets AMUDAI_SWEEP to 1, and runs all cases. CI sets it to 12, and runs about every twelfth.
package sweep

import (
	"os"
	"strconv"
)

// part is the value of AMUDAI_SWEEP, or 0.
func part() int {
	n, _ := strconv.ParseUint(os.Getenv("AMUDAI_SWEEP"), 10, 16)
	return int(n)
}

// All reports whether sweeps run more than a selection.
func All() bool { return part() > 0 }

// Step is the distance between two cases of a sweep: 1 with AMUDAI_SWEEP=1, else up to n. Use a prime
// n, which covers all residues modulo the sizes in files, which are powers of two.
func Step(n int) int {
	if All() {
		return min(n, part())
	}
	return n
}

// Count is the number of random cases: all with AMUDAI_SWEEP=1, else at least some.
func Count(some, all int) int {
	if All() {
		return max(some, all/part())
	}
	return some
}

// StepOf is the distance between two of many cases that take as long as a test each: some of them run in "make test", 60/N times as many
// with AMUDAI_SWEEP=N, all with AMUDAI_SWEEP=1.
func StepOf(cases, some int) int {
	step := max(1, cases/some)
	switch n := part(); n {
	case 0:
		return step
	case 1:
		return 1
	default:
		return min(step, max(n, step*n/60))
	}
}
