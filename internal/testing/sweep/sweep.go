// Package sweep controls the extent of tests that sweep over every bit, cut, fault, golden file
// or seed. "make test" runs a selection of each sweep, so that it ends within minutes. "make
// sweep", which CI runs too, sets AMUDAI_SWEEP and runs all cases.
package sweep

import "os"

// All reports whether sweeps run all cases.
func All() bool { return os.Getenv("AMUDAI_SWEEP") != "" }

// Step is the distance between two cases of a sweep: 1 with AMUDAI_SWEEP, else n. Use a prime
// n, which covers all residues modulo the sizes in files, which are powers of two.
func Step(n int) int {
	if All() {
		return 1
	}
	return n
}

// Count is the number of random cases: all with AMUDAI_SWEEP, else some.
func Count(some, all int) int {
	if All() {
		return all
	}
	return some
}
