//go:build !race

package numeric

// raceEnabled reports whether the race detector is on.
const raceEnabled = false
