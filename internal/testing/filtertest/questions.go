package filtertest

import (
	_ "embed"
	"encoding/binary"
	"encoding/json"
	"hash/crc32"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/stretchr/testify/require"

	"github.com/amudai/amudai-go/internal/testing/testdata"
	"github.com/amudai/amudai-go/internal/text"
	"github.com/amudai/amudai-go/table/parquet"
	"github.com/amudai/amudai-go/table/provider"
	tabletext "github.com/amudai/amudai-go/table/text"
)

// Question is a condition on a real data set, with the matching rows that DuckDB found (testdata/answers.py).
type Question struct {
	Dataset string  `json:"dataset"`
	Filter  string  `json:"filter"`
	Rows    int     `json:"rows"`
	First   []int64 `json:"first"` // numbers of the first rows, 5 at most
	CRC32   uint32  `json:"crc32"` // of the numbers of all rows, 8 bytes each
}

//go:embed testdata/questions.json
var questions []byte

type document struct {
	Datasets map[string]struct {
		File   string `json:"file"`
		Schema string `json:"schema"`
	} `json:"datasets"`
	Questions []Question `json:"questions"`
}

func read(t testing.TB) (d document) {
	require.NoError(t, json.Unmarshal(questions, &d))
	return d
}

// Questions are all questions.
func Questions(t testing.TB) []Question { return read(t).Questions }

// Check fails the test if rows, in ascending order, differ from the answer.
func (q Question) Check(t testing.TB, rows []int64) {
	t.Helper()
	require.Len(t, rows, q.Rows, q.Filter)
	require.Equal(t, q.First, append([]int64{}, rows[:len(q.First)]...), q.Filter)
	numbers := make([]byte, 0, 8*len(rows))
	for _, row := range rows {
		numbers = binary.LittleEndian.AppendUint64(numbers, uint64(row))
	}
	require.Equal(t, q.CRC32, crc32.ChecksumIEEE(numbers), q.Filter)
}

// Datasets are the names of the data sets.
func Datasets(t testing.TB) []string {
	var names []string
	for _, q := range read(t).Questions {
		if len(names) == 0 || names[len(names)-1] != q.Dataset {
			names = append(names, q.Dataset)
		}
	}
	return names
}

// open opens a data set for reading until the test ends. It skips the test if there is no shared data.
func open(t testing.TB, dataset string) provider.Source {
	d, ok := read(t).Datasets[dataset]
	require.True(t, ok, dataset)
	f, err := os.Open(filepath.Join(testdata.Shared(t), filepath.FromSlash(d.File)))
	require.NoError(t, err)
	info, err := f.Stat()
	require.NoError(t, err)
	format, o := parquet.New(parquet.Options{}), provider.ReadOptions{}
	if strings.HasSuffix(d.File, ".csv") {
		format = tabletext.CSV(tabletext.CSVOptions{})
		o.Schema, err = text.ParseSchema(d.Schema)
		require.NoError(t, err)
	}
	source, err := format.Open(t.Context(), provider.Input{Name: dataset, Reader: f, At: f, Size: info.Size(), Closer: f}, o)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, source.Close()) })
	return source
}

// Batches calls a function with every batch of a data set, and the number of its
// first row.
func Batches(t testing.TB, dataset string, each func(first int64, batch arrow.RecordBatch)) {
	first := int64(0)
	for batch, err := range provider.Batches(t.Context(), open(t, dataset)) {
		require.NoError(t, err)
		each(first, batch)
		first += batch.NumRows()
	}
}
