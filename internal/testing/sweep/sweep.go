// Package sweep tells tests how much to do. "make test" is for people and ends within minutes: sweeps over every bit, cut,
// fault, golden and seed do a selection there. "make sweep", which CI runs too, sets AMUDAI_SWEEP and does them whole.
package sweep

import "os"

// All reports whether sweeps are to be done whole.
func All() bool { return os.Getenv("AMUDAI_SWEEP") != "" }

// Step is the distance between two cases of a sweep: 1 if it is done whole, else n. A prime n meets all residues of the
// sizes that occur in files, which are powers of two.
func Step(n int) int {
	if All() {
		return 1
	}
	return n
}

// Count is the number of random cases: all of them if the sweep is done whole, else some.
func Count(some, all int) int {
	if All() {
		return all
	}
	return some
}
