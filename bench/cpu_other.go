//go:build !unix

package main

import "time"

var start = time.Now()

// cpuSeconds is the time since the start, where CPU time is not to be had.
func cpuSeconds() float64 { return time.Since(start).Seconds() }
