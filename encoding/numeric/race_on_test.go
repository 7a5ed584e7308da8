//go:build race

package numeric

// raceEnabled reports whether the race detector is on. It makes code ten times slower, and makes pools drop memory.
const raceEnabled = true
