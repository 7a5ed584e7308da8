package compare

import (
	"cmp"
	"math"
	"math/big"
	"slices"
	"strconv"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/amudai/amudai-go/filter"
	"github.com/amudai/amudai-go/internal/bench/suite"
	"github.com/amudai/amudai-go/internal/engine/compute"
	"github.com/amudai/amudai-go/internal/engine/predicate"
	"github.com/amudai/amudai-go/internal/format/schema"
)

// Without --where, the condition is one that about a hundredth of the rows match. It is found by trying two
// conditions on each of the first columns, on some of the batches.
const (
	questionShare   = 0.01
	questionColumns = 32
	questionBatches = 4
	questionSample  = 500 // values of a batch to examine
)

// QuestionName is the name of the condition in the names of operations.
const QuestionName = "rows"

// QuestionOf parses a condition, or chooses one that suits the data. Its text is empty if no column is suitable.
// The error is a [*filter.Error] if the text does not fit the columns.
func QuestionOf(d *suite.Dataset, text string) (suite.Question, error) {
	if text == "" {
		text = chooseQuestion(d)
	}
	q := suite.Question{Name: QuestionName, Where: text, Count: true}
	if text == "" {
		return q, nil
	}
	bound, err := predicate.BindText(text, d.Schema)
	if err != nil {
		return q, err
	}
	q.Rows, err = rowsOf(bound, d.Batches)
	return q, err
}

// rowsOf counts the rows that match a condition.
func rowsOf(bound *predicate.Bound, batches []arrow.RecordBatch) (n int64, err error) {
	for _, b := range batches {
		set, err := bound.Select(b)
		if err != nil {
			return 0, err
		}
		n += set.Len()
	}
	return n, nil
}

// chooseQuestion tries conditions and returns the one whose share of rows is nearest to questionShare.
func chooseQuestion(d *suite.Dataset) string {
	var batches []arrow.RecordBatch
	rows := int64(0)
	for i := range min(questionBatches, len(d.Batches)) {
		batches = append(batches, d.Batches[i*len(d.Batches)/min(questionBatches, len(d.Batches))])
		rows += batches[i].NumRows()
	}
	best, distance := "", math.Inf(1)
	for i, f := range d.Schema.Fields()[:min(questionColumns, d.Schema.NumFields())] {
		for _, e := range candidates(f, sampleOf(batches, i)) {
			bound, err := compute.Condition(e.Node(), d.Schema)
			if err != nil {
				continue // values without a literal, or two columns of that name
			}
			n, err := rowsOf(bound, batches)
			if err != nil || n == 0 {
				continue
			}
			if off := math.Abs(math.Log(float64(n) / float64(rows) / questionShare)); off < distance {
				best, distance = e.String(), off
			}
		}
	}
	return best
}

// sampleOf returns some values of a column as text.
func sampleOf(batches []arrow.RecordBatch, column int) (texts []string) {
	for _, b := range batches {
		c := b.Column(column)
		for i := range min(questionSample, c.Len()) {
			if row := i * c.Len() / min(questionSample, c.Len()); c.IsValid(row) {
				texts = append(texts, c.ValueStr(row))
			}
		}
	}
	return texts
}

// candidates returns conditions on a column: greater than most of its values, and equal to the value whose
// frequency is nearest to questionShare.
func candidates(f arrow.Field, values []string) []filter.Expr {
	lit, order := literalOf(f.Type)
	if lit == nil || len(values) == 0 {
		return nil
	}
	sorted := slices.SortedFunc(slices.Values(values), order)
	column := filter.Col(schema.JoinPath("", f.Name))
	above := sorted[int(float64(len(sorted))*(1-questionShare))]
	wanted, best, distance := float64(len(sorted))*questionShare, "", math.Inf(1)
	for len(sorted) > 0 {
		n := 1
		for n < len(sorted) && sorted[n] == sorted[0] {
			n++
		}
		if off := math.Abs(math.Log(float64(n) / wanted)); off < distance {
			best, distance = sorted[0], off
		}
		sorted = sorted[n:]
	}
	return []filter.Expr{filter.Gt(column, lit(above)), filter.Eq(column, lit(best))}
}

// literalOf returns functions that turn texts of values of a type into literals and order them, or nil for types
// without conditions.
func literalOf(t arrow.DataType) (lit func(string) filter.Expr, order func(a, b string) int) {
	if d, ok := t.(*arrow.DictionaryType); ok {
		t = d.ValueType
	}
	switch id := t.ID(); {
	case arrow.IsInteger(id), arrow.IsFloating(id), arrow.IsDecimal(id):
		return numberLiteral, func(a, b string) int { return cmp.Compare(numberOf(a), numberOf(b)) }
	case id == arrow.STRING, id == arrow.LARGE_STRING, id == arrow.STRING_VIEW, id == arrow.DATE32, id == arrow.TIMESTAMP:
		return func(s string) filter.Expr { return filter.Lit(s) }, cmp.Compare[string]
	}
	return nil, nil
}

func numberOf(s string) float64 {
	v, _ := strconv.ParseFloat(s, 64) // a text that is not a number sorts as 0
	return v
}

func numberLiteral(s string) filter.Expr {
	r, ok := new(big.Rat).SetString(s)
	if !ok { // NaN and infinities
		return filter.Lit(s)
	}
	return filter.Lit(r)
}
