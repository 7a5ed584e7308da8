package zoo

import (
	"fmt"
	"path/filepath"
	"regexp"
	"strings"
	"time"
)

var logs = []Column{
	{Name: "log_android", Group: "logs", open: openLog("Android", `^(\d\d-\d\d \d\d:\d\d:\d\d\.\d{3})`, "01-02 15:04:05.000")},
	{Name: "log_apache", Group: "logs", open: openLog("Apache", `^\[(\w{3} \w{3} \d\d [\d:]{8} \d{4})\]`, "Mon Jan 02 15:04:05 2006")},
	{Name: "log_hdfs", Group: "logs", open: openLog("HDFS", `^(\d{6} \d{6})`, "060102 150405")},
	{Name: "log_hpc", Group: "logs", open: openLog("HPC", `^$`)},
	{Name: "log_linux", Group: "logs", open: openLog("Linux", `^(\w{3} [ \d]\d [\d:]{8})`, "Jan _2 15:04:05")},
	{Name: "log_bgl", Group: "logs", HeldOut: true, open: openLog("BGL", `^\S+ (\d{10}) (\d{4}\.\d\d\.\d\d) \S+ (\d{4}-\d\d-\d\d-[\d.]{15})`, unix, "2006.01.02", "2006-01-02-15.04.05.000000")},
	{Name: "log_hadoop", Group: "logs", HeldOut: true, open: openLog("Hadoop", `^(\d{4}-\d\d-\d\d [\d:]{8},\d{3})`, "2006-01-02 15:04:05,000")},
	{Name: "log_healthapp", Group: "logs", HeldOut: true, open: openLog("HealthApp", `^(\d{8}-\d+:\d+:\d+:\d+)`, healthApp)},
}

// Layouts of times that package time lacks.
const (
	unix      = "unix"
	healthApp = "20060102-15:4:5:0"
)

func appendTime(b []byte, t time.Time, layout string) []byte {
	switch layout {
	case unix:
		return fmt.Appendf(b, "%d", t.Unix())
	case healthApp:
		return fmt.Appendf(b, "%s-%d:%d:%d:%d", t.Format("20060102"), t.Hour(), t.Minute(), t.Second(), t.Nanosecond()/1e6)
	}
	return t.AppendFormat(b, layout)
}

func parseTime(s, layout string) (time.Time, error) {
	if layout == healthApp {
		i := strings.LastIndexByte(s, ':')
		return time.Parse("20060102-15:4:5", s[:i]+"."+s[i+1:])
	}
	return time.Parse(layout, s)
}

// openLog makes lines with the statistics of the real lines of a system in the corpus: its templates in their order, the
// steps of its times, and the distributions of the variable parts.
func openLog(system, pattern string, layouts ...string) opener {
	return func(g *gen) (next, error) {
		real, err := lines(filepath.Join(g.Corpus, "logs", system+"_2k.log"))
		if err != nil {
			return nil, err
		}
		t, at := logTimes{layouts: layouts}, regexp.MustCompile(pattern)
		for i, line := range real {
			real[i] = t.cut(line, at)
		}
		m := newLogModel(real)
		return func(b []byte) []byte {
			now := t.tick(g)
			for _, c := range m.line(g) {
				if int(c) < len(layouts) {
					b = appendTime(b, now, layouts[c])
				} else {
					b = append(b, c)
				}
			}
			return b
		}, nil
	}
}

// logTimes are the times at the beginning of lines. In a line whose times are cut, the byte i stands for the one of layout i.
type logTimes struct {
	layouts []string
	now     time.Time
	steps   []time.Duration // of the real lines
}

// cut replaces the times of a line, and learns from the last one.
func (l *logTimes) cut(line string, pattern *regexp.Regexp) string {
	at := pattern.FindStringSubmatchIndex(line)
	if len(at) < 4 {
		return line
	}
	groups := at[2:]
	if t, err := parseTime(line[groups[len(groups)-2]:groups[len(groups)-1]], l.layouts[len(l.layouts)-1]); err == nil {
		if !l.now.IsZero() {
			l.steps = append(l.steps, max(0, t.Sub(l.now)))
		}
		l.now = t
	}
	for i := len(groups) - 2; i >= 0; i -= 2 {
		line = line[:groups[i]] + string(rune(i/2)) + line[groups[i+1]:]
	}
	return line
}

func (l *logTimes) tick(g *gen) time.Time {
	if len(l.steps) > 0 {
		l.now = l.now.Add(one(g, l.steps))
	}
	return l.now
}
