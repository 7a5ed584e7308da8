// Package sweep controls the extent of tests that sweep over every bit, cut, fault, golden file
// or seed. "make test" runs a selection of each sweep, so that it ends within minutes. "make
// sweep" sets AMUDAI_SWEEP to 1, and runs all cases. CI sets it to 3, and runs about every third.
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
