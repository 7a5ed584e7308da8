// Package formats links all formats of this module: a program that imports it can open any of them with package table.
//
//	import _ "github.com/amudai/amudai-go/table/formats"
package formats

import (
	_ "github.com/amudai/amudai-go/blockpack"
	_ "github.com/amudai/amudai-go/blockpack/otlp"
	_ "github.com/amudai/amudai-go/rntuple"
	_ "github.com/amudai/amudai-go/shard"
	_ "github.com/amudai/amudai-go/table/internal/arrowipc"
	_ "github.com/amudai/amudai-go/table/parquet"
	_ "github.com/amudai/amudai-go/table/text"
)
