package csv

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/amudai/amudai-go/internal/base/advice"
	"github.com/amudai/amudai-go/internal/format/projection"
	"github.com/amudai/amudai-go/internal/text"
	"github.com/amudai/amudai-go/table/provider"
	"github.com/amudai/amudai-go/table/text/internal/guess"
	"github.com/amudai/amudai-go/table/text/internal/records"
)

func open(ctx context.Context, in provider.Input, ro provider.ReadOptions, o Options, usual byte) (provider.Source, error) {
	s := &source{Source: records.Source{In: in, Options: ro.WithDefaults(), Text: o.Text}, o: o, values: guess.Options{Decimal: o.Decimal, Thousands: o.Thousands, Dates: o.Dates, AutoNulls: o.AutoNulls, True: o.True, False: o.False},
		usual: usual, otherNulls: o.AutoNulls || len(o.Nulls) > 0}
	err := o.check()
	if err == nil {
		err = s.open(ctx)
	}
	if err != nil {
		return nil, errors.Join(err, s.Close())
	}
	return s, nil
}

func (s *source) open(ctx context.Context) error {
	sample, whole, err := s.OpenText(ctx, s.o.Encoding)
	if err != nil {
		return s.Wrap(err)
	}
	head, headIsWhole, err := s.Peek(ctx, sample, whole, sniffBytes)
	if err != nil {
		return s.Wrap(err)
	}
	if err := s.refuse(head, headIsWhole); err != nil {
		return err
	}
	s.dialect = recognize(bytes.TrimPrefix(head, []byte("\xef\xbb\xbf")), headIsWhole, s.o, s.usual, s.isNamed)
	s.dialect.encoding = s.Encoding
	var guesses []guess.Column
	for {
		if guesses, err = s.infer(sample, whole); err == nil {
			break
		}
		if !errors.Is(err, records.ErrSampleShort) {
			return s.Wrap(err)
		}
		if sample, whole, err = records.GrowSample(ctx, s.In.Reader, sample, s.Text.MaxRecordBytes); err != nil {
			return s.Wrap(err)
		}
	}
	if s.Text.AllRows {
		if guesses, err = s.inferAll(ctx); err != nil {
			return s.Wrap(err)
		}
	}
	s.tell(sample)
	s.scan = newScanner(io.MultiReader(bytes.NewReader(sample), s.In.Reader), s.dialect, s.Text.MaxRecordBytes)
	if err := s.start(s.scan); err != nil {
		return s.Wrap(err)
	}
	return s.bind(guesses)
}

// start passes everything before the first record of data.
func (s *source) start(scan *scanner) error {
	if err := scan.begin(); err != nil {
		return err
	}
	if s.dialect.header && len(s.names) > 0 {
		if _, err := scan.next(); err != nil {
			return err
		}
	}
	scan.width = len(s.names)
	return nil
}

// infer reads the header, and infers types from the sample.
func (s *source) infer(sample []byte, whole bool) ([]guess.Column, error) {
	scan := newScanner(bytes.NewReader(sample), s.dialect, 0)
	if err := scan.begin(); err != nil {
		return nil, err
	}
	cut := func(err error) bool { // the record may extend beyond the sample
		return !whole && (err != nil || scan.passed == len(scan.Bytes()))
	}
	head, err := scan.next()
	switch {
	case cut(err):
		return nil, records.ErrSampleShort
	case err == io.EOF:
		s.Options.Warning(s.In.Name + " is empty: the table has no columns")
		return nil, s.name(nil)
	case err != nil:
		return nil, err
	}
	if err := s.name(head); err != nil {
		return nil, err
	}
	guesses := make([]guess.Column, len(s.names))
	var buf []byte
	rows := int64(0)
	if scan.width = len(s.names); !s.dialect.header {
		s.look(guesses, head, &buf)
		rows++
	}
	for ; rows < int64(s.Text.SampleRows); rows++ {
		cells, err := scan.next()
		if cut(err) {
			if rows == 0 {
				return nil, records.ErrSampleShort
			}
			break
		}
		if err == io.EOF {
			break
		}
		if err != nil {
			return nil, err
		}
		s.look(guesses, cells, &buf)
	}
	total := s.In.Size
	if whole {
		total = int64(len(sample))
	}
	s.Guess(rows, scan.Used()+int64(scan.passed), total)
	return guesses, nil
}

// inferAll infers types from all records.
func (s *source) inferAll(ctx context.Context) ([]guess.Column, error) {
	scan := newScanner(s.Again(), s.dialect, s.Text.MaxRecordBytes)
	scan.During(ctx)
	if err := s.start(scan); err != nil {
		return nil, err
	}
	guesses := make([]guess.Column, len(s.names))
	var buf []byte
	for len(s.names) > 0 {
		cells, err := scan.next()
		if err == io.EOF {
			break
		}
		if err != nil {
			return nil, err
		}
		s.look(guesses, cells, &buf)
	}
	return guesses, nil
}

// tell gives notices of the dialect.
func (s *source) tell(sample []byte) {
	if d := s.dialect.describe(s.o, s.usual); d != "" && len(s.names) > 0 {
		s.Options.Warning(s.In.Name + " is read with " + d)
	}
	if len(s.names) == 1 && s.o.Delimiter == 0 {
		if c := s.otherDelimiter(s.names[0], sample); c != 0 {
			s.Options.Warning(fmt.Sprintf("%s has one column of fields separated by %q: --delimiter %s splits them", s.In.Name, c, delimiterName(c)))
		}
	}
}

// otherDelimiter returns the likely delimiter in the only name of a column, unless it is quoted, or 0.
func (s *source) otherDelimiter(name string, sample []byte) byte {
	if bytes.HasPrefix(sample, []byte{'"'}) {
		return 0
	}
	for _, c := range []byte(usualDelimiters) {
		if c != s.dialect.delimiter && strings.IndexByte(name, c) >= 0 {
			return c
		}
	}
	return 0
}

// isNamed reports whether a record has the name of a column that the caller's schema lists.
func (s *source) isNamed(head []cell) bool {
	return slices.ContainsFunc(head, func(c cell) bool {
		return slices.ContainsFunc(s.Options.Schema, func(f arrow.Field) bool { return f.Name == string(c.text) })
	})
}

// name takes the column names from the first record, or makes them.
func (s *source) name(head []cell) error {
	s.names, s.positional = s.names[:0], false
	if s.dialect.shape == rowNames {
		s.names = append(s.names, "")
	}
	made := func(i int) string { return fmt.Sprintf("column%d", i+1) }
	if s.dialect.header {
		for _, c := range head {
			if !utf8.Valid(c.text) {
				return advice.WithHint(fmt.Errorf("column name %q %w", text.Clip(string(c.text)), text.ErrUTF8), "--encoding windows-1252 reads any text of Western Europe")
			}
			s.names = append(s.names, string(c.text))
		}
		return nil
	}
	for i := range head {
		s.names = append(s.names, made(i))
	}
	schema := s.Options.Schema
	if len(schema) == 0 || head != nil && slices.ContainsFunc(schema, func(f arrow.Field) bool { return slices.Contains(s.names, f.Name) }) {
		return nil
	}
	if head != nil && len(head) != len(schema) {
		return fmt.Errorf("the first record has %d %s, but the schema lists %d: without a header it must list all columns", len(head), text.Plural(len(head), "field"), len(schema))
	}
	s.names, s.positional = s.names[:0], true
	for _, f := range schema {
		s.names = append(s.names, f.Name)
	}
	return nil
}

// look adds the cells of one record to the guesses of the types. A record with another number of fields is an error
// later, with its line, or left out.
func (s *source) look(guesses []guess.Column, cells []cell, buf *[]byte) {
	if s.o.Ragged == RaggedDrop && len(cells) != len(guesses) {
		return
	}
	for i, c := range cells[:min(len(cells), len(guesses))] {
		if len(c.text) > 0 && !s.isGivenNull(c) {
			guesses[i].Add(c.text, c.quoted, &s.values, buf)
		}
	}
}

// bind resolves the types and makes the builders.
func (s *source) bind(guesses []guess.Column) error {
	fixed, err := s.fixedFields()
	if err != nil {
		return err
	}
	said := records.Notices{Give: s.Options.Notice}
	var found guess.Findings
	fields := make([]arrow.Field, len(s.names))
	inferred := make([]guess.Resolved, len(s.names))
	s.Empty = make([]bool, len(s.names))
	for i, name := range s.names {
		g := new(guess.Column)
		if i < len(guesses) {
			g = &guesses[i]
		}
		if f, ok := fixed[i]; ok {
			fields[i], inferred[i].Order = f, g.Order(&s.values)
			continue
		}
		inferred[i] = g.Resolve(name, &s.values, &found)
		s.Empty[i] = g.Empty(&s.values)
		fields[i] = arrow.Field{Name: name, Type: inferred[i].Type, Nullable: true}
	}
	found.Give(&said)
	return s.build(fields, inferred)
}

// fixedFields returns the fields of the caller's schema by position. They are found by name: the second column of a
// name has the second field of that name, if there is one. Without a header they may be in order.
func (s *source) fixedFields() (map[int]arrow.Field, error) {
	at := map[int]arrow.Field{}
	if s.positional {
		for i, f := range s.Options.Schema {
			at[i] = f
		}
		return at, nil
	}
	named := make(map[string][]arrow.Field, len(s.Options.Schema))
	for _, f := range s.Options.Schema {
		named[f.Name] = append(named[f.Name], f)
	}
	used := map[string]int{}
	for i, name := range s.names {
		if fs := named[name]; len(fs) > 0 {
			at[i] = fs[min(used[name], len(fs)-1)]
			used[name]++
		}
	}
	for _, f := range s.Options.Schema {
		if used[f.Name] == 0 {
			columns := make([]arrow.Field, len(s.names))
			for i, name := range s.names {
				columns[i].Name = name
			}
			return nil, projection.Missing(f, s.In.Name, columns)
		}
	}
	return at, nil
}
