package tempo

import "github.com/amudai/amudai-go/blockpack/internal/wire"

// appendJSON appends an AnyValue that Tempo stores as JSON: in the form of OTLP/JSON.
func appendJSON(dst []byte, text string) ([]byte, error) {
	return new(wire.Decoder).Append(dst, []byte(text), wire.AnyValue)
}
