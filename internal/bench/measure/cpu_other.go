//go:build !unix

package measure

import "time"

var start = time.Now()

// CPU is the time since the start in seconds, where CPU time is not to be had.
func CPU() float64 { return time.Since(start).Seconds() }
