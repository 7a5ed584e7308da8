package numeric

import (
	"github.com/amudai/amudai-go/encoding/numeric/internal/codec"
	"github.com/amudai/amudai-go/encoding/numeric/internal/encode"
	"github.com/amudai/amudai-go/encoding/numeric/internal/word"
)

func parseShape(shape string) (*encode.Plan, error) { return codec.Table.ParseShape(shape) }

func suits(p *encode.Plan, t Type) bool { return codec.Table.Suits(p, t) }

// sizeOf is the number of bytes of a value.
func sizeOf[T Value]() int { return word.SizeOf[T]() }
