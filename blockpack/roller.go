package blockpack

import (
	"context"
	"errors"
)

// RollOptions are the limits of the files of a [Roller]. A file ends before the message that follows the limit.
type RollOptions struct {
	Bytes int64 // that were written, by default 512 MiB
	Spans int64 // by default not limited
}

// Roller writes messages to one file after the other. It has neither a goroutine nor a clock: to end files after some time, call Roll.
// It belongs to one goroutine.
type Roller struct {
	create func(ctx context.Context) (*Writer, error)
	o      RollOptions
	w      *Writer // nil between files
}

// NewRoller makes a Roller. create begins a file; it is called by WriteOTLP when there is none.
func NewRoller(create func(ctx context.Context) (*Writer, error), o RollOptions) *Roller {
	return &Roller{create: create, o: o}
}

// Writer is that of the current file, nil if there is none.
func (r *Roller) Writer() *Writer { return r.w }

// WriteOTLP adds the spans of a message as [Writer.WriteOTLP] does, to the current file or a new one. A message is in one file as a whole.
func (r *Roller) WriteOTLP(ctx context.Context, message []byte) error { return errors.ErrUnsupported }

// Roll ends the current file, if there is one: it is durable and visible when Roll returns. After an error it is neither.
func (r *Roller) Roll(ctx context.Context) error { return errors.ErrUnsupported }

// Abort discards the current file.
func (r *Roller) Abort(ctx context.Context) error { return errors.ErrUnsupported }
