package command

import (
	"fmt"
	"io"
	"time"

	"github.com/cheggaaa/pb/v3"
)

// progress shows rows and rows/s on a terminal, and the time left if the total is known.
type progress struct {
	bar   *pb.ProgressBar
	began time.Time
	rows  int64
}

const (
	barKnown   pb.ProgressBarTemplate = `{{counters . }} rows {{bar . }} {{percent . }} {{speed . "%s rows/s" "… rows/s"}} {{rtime . "%s left" "%s" "…"}}`
	barUnknown pb.ProgressBarTemplate = `{{counters . }} rows {{speed . "%s rows/s" "… rows/s"}} {{etime . }}`
)

// startProgress shows a bar on stderr if that is a terminal and quiet is not set.
func (a *app) startProgress(total int64, known, quiet bool) *progress {
	p := &progress{began: time.Now()}
	if !a.Progress || quiet {
		return p
	}
	template := barUnknown
	if known {
		template = barKnown
	}
	p.bar = template.New(int(total)).SetWriter(a.Stderr).SetRefreshRate(200 * time.Millisecond)
	p.bar.Start()
	return p
}

// add counts rows; total is the newest estimate of all.
func (p *progress) add(rows, total int64, known bool) {
	p.rows += rows
	if p.bar != nil {
		if known {
			p.bar.SetTotal(max(total, p.rows))
		}
		p.bar.Add64(rows)
	}
}

// set says that done of total columns are through.
func (p *progress) set(done, total int) {
	if p.bar != nil {
		p.bar.SetTotal(int64(total))
		p.bar.SetCurrent(int64(done))
	}
}

// end removes the bar.
func (p *progress) end(w io.Writer) {
	if p.bar != nil {
		p.bar.Set(pb.CleanOnFinish, true)
		p.bar.Finish()
		fmt.Fprint(w, "\r\x1b[K")
	}
}

// rate is "3,000,000 rows in 1.2 s".
func (p *progress) rate() string {
	return fmt.Sprintf("%s in %s", plural(p.rows, "row"), duration(time.Since(p.began)))
}

// duration is a time for people: 950 µs, 12.3 ms, 4.56 s, 2m03s.
func duration(d time.Duration) string {
	switch {
	case d < time.Millisecond:
		return fmt.Sprintf("%d µs", d.Microseconds())
	case d < time.Second:
		return fmt.Sprintf("%.1f ms", float64(d.Microseconds())/1e3)
	case d < 2*time.Minute:
		return fmt.Sprintf("%.2f s", d.Seconds())
	}
	return d.Round(time.Second).String()
}
