package terminal

import (
	"io"
	"time"

	"github.com/cheggaaa/pb/v3"
)

// Progress counts rows or other steps. It can show a bar.
type Progress struct {
	bar   *pb.ProgressBar
	out   io.Writer
	began time.Time
	rows  int64
}

const (
	barKnown   pb.ProgressBarTemplate = `{{counters . }} rows {{bar . }} {{percent . }} {{speed . "%s rows/s" "… rows/s"}} {{rtime . "%s left" "%s" "…"}}`
	barUnknown pb.ProgressBarTemplate = `{{counters . }} rows {{speed . "%s rows/s" "… rows/s"}} {{etime . }}`
	barSteps   pb.ProgressBarTemplate = `{{counters . }} columns {{bar . }} {{percent . }} {{rtime . "%s left" "%s" "…"}}`
)

// StartRows begins to count rows. total may be unknown. It shows a bar on w unless w is nil.
func StartRows(w io.Writer, total int64, known bool) *Progress {
	if known {
		return start(w, barKnown, total)
	}
	return start(w, barUnknown, 0)
}

// StartColumns begins to count columns. It shows a bar on w unless w is nil.
func StartColumns(w io.Writer) *Progress { return start(w, barSteps, 0) }

func start(w io.Writer, template pb.ProgressBarTemplate, total int64) *Progress {
	p := &Progress{began: time.Now(), out: w}
	if w != nil {
		p.bar = template.New(int(total)).SetWriter(w).SetRefreshRate(200 * time.Millisecond)
		p.bar.Start()
	}
	return p
}

// Add counts rows. total is the latest estimate, if known.
func (p *Progress) Add(rows, total int64, known bool) {
	p.rows += rows
	if p.bar != nil {
		if known {
			p.bar.SetTotal(max(total, p.rows))
		}
		p.bar.Add64(rows)
	}
}

// Set sets the number of finished steps.
func (p *Progress) Set(done, total int) {
	if p.bar != nil {
		p.bar.SetTotal(int64(total))
		p.bar.SetCurrent(int64(done))
	}
}

// End removes the bar.
func (p *Progress) End() error {
	if p.bar == nil {
		return nil
	}
	p.bar.Set(pb.CleanOnFinish, true)
	p.bar.Finish()
	_, err := io.WriteString(p.out, "\r\x1b[K")
	return err
}

// Rate is "3,000,000 rows in 1.2 s".
func (p *Progress) Rate() string {
	return Plural(p.rows, "row") + " in " + Duration(time.Since(p.began))
}
