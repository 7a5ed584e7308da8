// Package series makes time series of observations: numbers of spans at their starts.
package series

import "time"

// Window is a time that is divided into intervals: the first begins at Start, each has the times after its start up to its end. With a Step of
// 0 it is one interval, which has its start, too. All are nanoseconds.
type Window struct{ Start, End, Step int64 }

// NewWindow moves the bounds outwards to multiples of the step.
func NewWindow(start, end, step int64) Window {
	if step > 0 {
		start -= mod(start, step)
		if rest := mod(end, step); rest > 0 {
			end += step - rest
		}
	}
	return Window{start, end, step}
}

func mod(a, b int64) int64 { return (a%b + b) % b }

// Len is the number of intervals.
func (w Window) Len() int {
	if w.Step == 0 {
		return 1
	}
	return int((w.End - w.Start) / w.Step)
}

// Index is the interval of a time, or -1.
func (w Window) Index(t int64) int {
	switch {
	case t > w.End || t < w.Start || t == w.Start && w.Step > 0:
		return -1
	case w.Step == 0:
		return 0
	}
	return int((t - w.Start - 1) / w.Step)
}

// Time is the time of a sample: the end of its interval.
func (w Window) Time(i int) time.Time {
	t := w.End
	if w.Step > 0 {
		t = w.Start + int64(i+1)*w.Step
	}
	return time.Unix(0, t).UTC()
}

// Seconds is the length of an interval.
func (w Window) Seconds() float64 {
	if w.Step == 0 {
		return time.Duration(w.End - w.Start).Seconds()
	}
	return time.Duration(w.Step).Seconds()
}

// granularities are the units of default steps.
var granularities = []time.Duration{time.Hour, 5 * time.Minute, time.Minute, 15 * time.Second, 5 * time.Second, time.Second}

// DefaultStep divides a time into about 240 intervals of a round length, as Tempo does: at least a second, or 50 ms of less than a minute.
func DefaultStep(length time.Duration) time.Duration {
	const shortest = 50 * time.Millisecond
	about := length / 240
	if length < time.Minute {
		return max(about.Truncate(shortest), shortest)
	}
	for _, g := range granularities {
		if about > g {
			return about.Truncate(g)
		}
	}
	return time.Second
}
