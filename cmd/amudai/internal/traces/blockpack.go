package traces

import (
	"bufio"
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/amudai/amudai-go/blockpack"
	"github.com/amudai/amudai-go/cmd/amudai/internal/app"
	"github.com/amudai/amudai-go/cmd/amudai/internal/files"
	"github.com/amudai/amudai-go/cmd/amudai/internal/formats"
	"github.com/amudai/amudai-go/cmd/amudai/internal/terminal"
	"github.com/amudai/amudai-go/cmd/amudai/internal/usage"
	"github.com/amudai/amudai-go/internal/base/seq"
	"github.com/amudai/amudai-go/internal/inputs"
)

// blockpack has the commands for Blockpack files alone. Those for tables work on them, too.
func (a group) blockpack() *cobra.Command {
	return app.Group("blockpack", "Merge Blockpack files, and drop traces of them",
		`The other commands work on Blockpack files as on any table: convert makes them of OTLP and of Tempo's blocks, serve
receives traces, trace and query find traces, verify checks, inspect shows the structure.`, a.blockpackMerge(), a.blockpackDropTraces())
}

func (a group) blockpackMerge() *cobra.Command {
	var o blockpack.MergeOptions
	cmd := &cobra.Command{
		Use:   "merge IN... OUT",
		Short: "Merge Blockpack files without duplicate spans",
		Long: `merge writes the spans of files, of the files in folders and of glob patterns to one file. Of spans that are equal in
all they have, one is written. Spans that share their ids and differ are all written, with a notice of their number.`,
		Args: app.Wants(2, -1, "inputs, then the output"),
		RunE: func(cmd *cobra.Command, args []string) error {
			last := len(args) - 1
			o.Writer.Overwrite = a.Force
			return a.runMerge(cmd.Context(), args[:last], args[last], o)
		},
	}
	formats.RegisterSize(cmd, &o.MemoryBytes, "memory", "128MiB", "memory for finding duplicates")
	return cmd
}

func (a group) runMerge(ctx context.Context, locations []string, output string, o blockpack.MergeOptions) (err error) {
	if err := files.CheckOutput(output, o.Writer.Overwrite); err != nil {
		return err
	}
	var opened []*blockpack.File
	defer func() { err = errors.Join(err, seq.CloseAll(opened)) }()
	for _, in := range inputs.Expand(ctx, locations, formats.All()) {
		if in.Err != nil {
			return in.Err
		}
		f, err := blockpack.Open(ctx, in.Location, blockpack.Options{})
		if err != nil {
			return inputs.Missing(in.Location, err)
		}
		opened = append(opened, f)
	}
	stats, err := blockpack.Merge(ctx, output, opened, o)
	if err != nil {
		return files.CreateError(output, err)
	}
	a.Noticef("%s of %s; %s left out", terminal.Plural(stats.Spans, "span"), terminal.Plural(len(opened), "file"), terminal.Plural(stats.Duplicates, "duplicate"))
	if stats.Conflicts > 0 {
		a.Noticef("%s kept whose ids other spans have, too", terminal.Plural(stats.Conflicts, "span"))
	}
	return nil
}

func (a group) blockpackDropTraces() *cobra.Command {
	list := ""
	cmd := &cobra.Command{
		Use:   "drop-traces IN OUT [ID...]",
		Short: "Copy a Blockpack file without some traces",
		Long: `drop-traces writes the spans of a file to a new one, but for those of some traces. Nothing of them is left in the new
file, not even in its indexes. The ids follow the output, or are in a file (--ids), one in a line. The exit code is 1 if
the file has none of these traces; the copy is written all the same.`,
		Args: app.Wants(2, -1, "the input, the output, then ids of traces"),
		RunE: func(cmd *cobra.Command, args []string) error {
			ids, err := a.traceIDs(cmd.Context(), args[2:], list)
			if err != nil {
				return err
			}
			return a.runDropTraces(cmd.Context(), args[0], args[1], ids, blockpack.WriterOptions{Overwrite: a.Force})
		},
	}
	cmd.Flags().StringVar(&list, "ids", "", "a file of ids, one in a line; - for stdin")
	return cmd
}

// traceIDs are ids of traces from the command line and from a file.
func (a group) traceIDs(ctx context.Context, texts []string, file string) (ids [][16]byte, err error) {
	if file != "" {
		in, err := inputs.Open(ctx, file, a.Stdin)
		if err != nil {
			return nil, err
		}
		lines := bufio.NewScanner(in.Reader)
		for lines.Scan() {
			if text := strings.TrimSpace(lines.Text()); text != "" {
				texts = append(texts, text)
			}
		}
		if err := errors.Join(lines.Err(), in.Close()); err != nil {
			return nil, fmt.Errorf("%s: %w", in.Name, err)
		}
	}
	if len(texts) == 0 {
		return nil, usage.Errorf("they follow the output, or --ids names a file of them", "there are no ids of traces to drop")
	}
	for _, text := range texts {
		id, err := idOf(text, 16)
		if err != nil {
			return nil, err
		}
		ids = append(ids, [16]byte([]byte(id)))
	}
	return ids, nil
}

func (a group) runDropTraces(ctx context.Context, input, output string, ids [][16]byte, o blockpack.WriterOptions) (err error) {
	if err := files.CheckOutput(output, o.Overwrite); err != nil {
		return err
	}
	f, err := blockpack.Open(ctx, input, blockpack.Options{})
	if err != nil {
		return inputs.Missing(input, err)
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	stats, err := blockpack.DropTraces(ctx, output, f, ids, o)
	if err != nil {
		return files.CreateError(output, err)
	}
	a.Noticef("%s of %s dropped, %s left", terminal.Plural(stats.Dropped, "span"), terminal.Plural(stats.Traces, "trace"), terminal.Plural(stats.Spans, "span"))
	if stats.Traces == 0 {
		return app.Printed{Code: app.ExitFailure, Text: "no trace to drop"}
	}
	return nil
}

// ID is the id of a trace in hexadecimal digits.
func ID(text string) (string, error) { return idOf(text, 16) }

// idOf is the id of a trace or span in hexadecimal digits. One that is too short has zeros in front.
func idOf(text string, size int) (string, error) {
	digits := strings.ReplaceAll(text, "-", "") // as in a UUID
	if n := 2*size - len(digits); n > 0 && digits != "" {
		digits = strings.Repeat("0", n) + digits
	}
	id, err := hex.DecodeString(digits)
	if err != nil || len(id) != size {
		return "", usage.Errorf("", "%q is no id of up to %d hexadecimal digits", text, 2*size)
	}
	return string(id), nil
}
