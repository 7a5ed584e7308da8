package csv

import (
	"bytes"
	"strconv"

	"github.com/amudai/amudai-go/table/text/internal/guess"
)

// vote is what a column tells about the first record.
type vote uint8

const (
	votesNothing vote = iota
	votesHeader       // it is text, and the column has other values
	votesRecord       // it is a value as those below it
)

// columnVotes returns the vote of each column of the records from the first regular one on.
func (t *trial) columnVotes() []vote {
	votes := make([]vote, t.width)
	if t.first >= len(t.records) {
		return votes
	}
	head, rest := t.records[t.first].cells, t.records[t.first+1:]
	for i := range votes {
		votes[i] = columnVote(head, rest, i)
	}
	return votes
}

func columnVote(head []cell, rest []record, i int) vote {
	if i >= len(head) {
		return votesNothing
	}
	first, common := guess.ClassOf(head[i].text), guess.Nothing
	for _, r := range rest {
		if i >= len(r.cells) {
			continue
		}
		c := guess.ClassOf(r.cells[i].text)
		if c == guess.Text || c != guess.Nothing && common != guess.Nothing && c != common {
			return votesNothing
		}
		common = max(common, c)
	}
	switch {
	case first == guess.Nothing || len(rest) > 0 && common == guess.Nothing:
		return votesNothing
	case first == guess.Text:
		return votesHeader
	case len(rest) == 0 || first == common:
		return votesRecord
	}
	return votesNothing
}

// headed reports whether the first record is a header. It is not if a column has values of one kind, from the first
// record on, and no column has text only there. Consecutive years are names.
func (t *trial) headed() bool {
	if t.shape != sameWidth || t.stray {
		return true
	}
	records := false
	for _, v := range t.columnVotes() {
		switch v {
		case votesHeader:
			return true
		case votesRecord:
			records = true
		}
	}
	return !records || t.years()
}

// years reports whether the numbers of the first record are consecutive years, behind some text.
func (t *trial) years() bool {
	last, n := 0, 0
	for i, c := range t.records[0].cells {
		switch guess.ClassOf(c.text) {
		case guess.Text:
			continue
		case guess.Value:
		default:
			return false
		}
		year, err := strconv.Atoi(string(bytes.TrimSpace(c.text)))
		if err != nil || i == 0 || year < 1500 || year > 2200 || n > 0 && year != last+1 && year != last-1 {
			return false
		}
		last = year
		n++
	}
	return n >= 2
}
