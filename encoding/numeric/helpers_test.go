package numeric

import (
	"flag"
	"os"
	"strconv"
	"testing"

	"github.com/amudai/amudai-go/encoding/numeric/internal/codec"
	"github.com/amudai/amudai-go/encoding/numeric/internal/encode"
	"github.com/amudai/amudai-go/encoding/numeric/internal/word"
	"github.com/amudai/amudai-go/internal/testing/sweep"
)

func parseShape(shape string) (*encode.Plan, error) { return codec.Table.ParseShape(shape) }

func suits(p *encode.Plan, t Type) bool { return codec.Table.Suits(p, t) }

// sizeOf returns the number of bytes of a value.
func sizeOf[T Value]() int { return word.SizeOf[T]() }

// TestMain draws fewer random cases than rapid by default, unless a sweep or -rapid.checks asks for more.
func TestMain(m *testing.M) {
	const checks = "rapid.checks"
	if err := flag.Set(checks, strconv.Itoa(sweep.Count(10, 100))); err != nil {
		panic(err)
	}
	os.Exit(m.Run())
}
