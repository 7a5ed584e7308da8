//go:build !unix

package measure

import "time"

var start = time.Now()

// CPU is the time since the start in seconds, on systems without CPU time.
func CPU() float64 { return time.Since(start).Seconds() }
