package app

import (
	"io"
	"regexp"
	"strings"

	"github.com/amudai/amudai-go/storage"
)

// redacted is stderr without the credentials of the locations that the command is given: they are left out where errors and
// notices are made, and here once more, as servers, libraries and the system make errors, too.
func redacted(e Env) io.Writer {
	var r redactor
	for _, arg := range e.Args {
		if start := strings.Index(arg, "://"); start >= 0 {
			for start > 0 && strings.IndexByte("=,'\" ", arg[start-1]) < 0 { // --flag=LOCATION
				start--
			}
			r.add(arg[start:])
		}
	}
	if len(r.locations) == 0 {
		return e.Stderr
	}
	r.out = e.Stderr
	return r
}

// redactor writes texts with [storage.Redact] applied to some locations in them.
type redactor struct {
	out       io.Writer
	locations []*regexp.Regexp // with or without their credentials
	safe      []string
}

func (r *redactor) add(location string) {
	safe := storage.Redact(location)
	if safe == location {
		return
	}
	scheme, rest, _ := strings.Cut(safe, "://")
	r.locations = append(r.locations, regexp.MustCompile(regexp.QuoteMeta(scheme)+`://(?:[^\s/]*@)?`+regexp.QuoteMeta(rest)+`(?:[?#][^\s"')]*)?`))
	r.safe = append(r.safe, safe)
}

// Write implements io.Writer.
func (r redactor) Write(p []byte) (int, error) {
	text := string(p)
	for i, l := range r.locations {
		text = l.ReplaceAllLiteralString(text, r.safe[i])
	}
	_, err := r.out.Write([]byte(text))
	return len(p), err
}

// RedactAll are locations as one text for people.
func RedactAll(locations []string) string {
	safe := make([]string, len(locations))
	for i, l := range locations {
		safe[i] = storage.Redact(l)
	}
	return strings.Join(safe, " ")
}
