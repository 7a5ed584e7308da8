package terminal

import (
	"errors"
	"io"
	"time"

	"github.com/schollz/progressbar/v3"
)

// Progress counts rows or other steps. It can show a bar.
type Progress struct {
	bar   *progressbar.ProgressBar
	out   io.Writer
	began time.Time
	rows  int64
}

// Start begins to count rows or other steps. It shows a bar on w unless w is nil.
func Start(w io.Writer, unit string) *Progress {
	p := &Progress{began: time.Now(), out: w}
	if w != nil {
		p.bar = progressbar.NewOptions64(-1, progressbar.OptionSetWriter(w), progressbar.OptionThrottle(200*time.Millisecond),
			progressbar.OptionShowCount(), progressbar.OptionShowIts(), progressbar.OptionSetItsString(unit), progressbar.OptionSetWidth(30))
	}
	return p
}

// Add counts rows. total is the latest estimate, if known.
func (p *Progress) Add(rows, total int64, known bool) {
	p.rows += rows
	if p.bar != nil {
		if known {
			p.bar.ChangeMax64(max(total, p.rows))
		}
		p.show(p.rows)
	}
}

// Set sets the number of finished steps.
func (p *Progress) Set(done, total int64) {
	if p.bar != nil {
		p.bar.ChangeMax64(total)
		p.show(done)
	}
}

// show moves the bar. That it cannot be shown is no reason to stop the work.
func (p *Progress) show(done int64) { _ = p.bar.Set64(done) }

// End removes the bar.
func (p *Progress) End() error {
	if p.bar == nil {
		return nil
	}
	err := p.bar.Exit()
	_, last := io.WriteString(p.out, "\r\x1b[K")
	return errors.Join(err, last)
}

// Rate is "3,000,000 rows in 1.2 s".
func (p *Progress) Rate() string {
	return Plural(p.rows, "row") + " in " + Duration(time.Since(p.began))
}
