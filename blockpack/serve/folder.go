package serve

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"
	"time"

	"github.com/amudai/amudai-go/internal/base/fault"
	"github.com/amudai/amudai-go/internal/base/sys"
)

// ErrLocked means that another server uses the folder.
var ErrLocked = errors.New("the folder is in use by another receiver")

// LogFolder is the folder in that of a server which has its logs.
const LogFolder = "wal"

// Names in the folder.
const (
	fileSuffix = ".blockpack"
	logSuffix  = ".log"
	damaged    = ".damaged" // after the name of a log that lost what was acknowledged
	nameFormat = "20060102T150405.000000000Z"
)

// folder is the folder of a server. It belongs to one goroutine.
type folder struct {
	fs     sys.FS
	dir    string
	create func(ctx context.Context, location string) (spanWriter, error)
	notice func(string)
	unlock func()
	last   string // the name of the last file

	acknowledged map[string]int64 // of logs of failed files: the bytes to write anew; of others all
	files        int64            // that were published
	fileBytes    int64            // of these
}

func (d *folder) filePath(name string) string { return filepath.Join(d.dir, name+fileSuffix) }
func (d *folder) logPath(name string) string {
	return filepath.Join(d.dir, LogFolder, name+logSuffix)
}

// open locks the folder and writes the files of all logs.
func (d *folder) open(ctx context.Context) (err error) {
	d.acknowledged = map[string]int64{}
	if err := d.lock(ctx); err != nil {
		return err
	}
	defer func() {
		if err != nil {
			d.unlock()
		}
	}()
	if err := d.fs.SyncDir(d.dir); err != nil { // the folder of logs
		return err
	}
	for _, in := range []struct{ dir, suffix string }{{d.dir, fileSuffix}, {filepath.Join(d.dir, LogFolder), logSuffix}} {
		names, err := d.names(in.dir, in.suffix)
		if err != nil {
			return err
		}
		if n := len(names); n > 0 {
			d.last = max(d.last, names[n-1])
		}
	}
	return d.replay(ctx)
}

func (d *folder) lock(ctx context.Context) error {
	at, cancel := context.WithCancel(ctx)
	cancel() // no wait
	unlock, err := d.fs.Lock(at, filepath.Join(d.dir, LogFolder))
	switch {
	case err == nil:
		d.unlock = unlock
	case ctx.Err() != nil:
		return ctx.Err()
	case errors.Is(err, context.Canceled):
		return fmt.Errorf("%w: %s", ErrLocked, d.dir)
	case errors.Is(err, errors.ErrUnsupported):
		d.unlock = func() {}
		d.notice(fmt.Sprintf("a second receiver for %s would not be noticed: %v", d.dir, err))
	default:
		return err
	}
	return nil
}

// File is a file that a server has published.
type File struct {
	Path  string
	Named time.Time // which the name tells: files sort by it
	Size  int64     // bytes
}

// FilePath is the path of a file in the folder of a server.
func FilePath(dir string, named time.Time) string {
	return filepath.Join(dir, named.UTC().Format(nameFormat)+fileSuffix)
}

// Files are the files in the folder of a server that others may replace, the oldest first. One with a log is not among them: after a crash it is written anew.
func Files(dir string) (list []File, err error) {
	d := folder{fs: sys.OS{}, dir: dir}
	names, err := d.names(dir, fileSuffix)
	if err != nil {
		return nil, err
	}
	for _, name := range names {
		logged, err := d.fs.Exists(d.logPath(name))
		var info fs.FileInfo
		if err == nil && !logged {
			info, err = d.fs.Stat(d.filePath(name))
		}
		switch {
		case logged, errors.Is(err, fs.ErrNotExist):
			continue
		case err != nil:
			return nil, err
		}
		named, err := time.Parse(nameFormat, name)
		if err != nil {
			return nil, err
		}
		list = append(list, File{d.filePath(name), named, info.Size()})
	}
	return list, nil
}

// names lists the names of files with a suffix, without it, sorted. Files with other names than this package gives are left out.
func (d *folder) names(dir, suffix string) ([]string, error) {
	entries, err := d.fs.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	var names []string
	for _, e := range entries {
		name, ok := strings.CutSuffix(e.Name(), suffix)
		if _, err := time.Parse(nameFormat, name); ok && err == nil {
			names = append(names, name)
		}
	}
	return names, nil
}

// newName returns a name that is greater than all others, even if the clock went back.
func (d *folder) newName(now time.Time) (string, error) {
	for {
		name := now.UTC().Format(nameFormat)
		if name <= d.last {
			last, err := time.Parse(nameFormat, d.last)
			if err != nil {
				return "", err
			}
			now = last.Add(1)
			continue
		}
		d.last = name
		for _, path := range []string{d.filePath(name), d.logPath(name)} {
			taken, err := d.fs.Exists(path)
			if err != nil {
				return "", err
			}
			if taken {
				name = ""
			}
		}
		if name != "" {
			return name, nil
		}
	}
}

// file is a file that is being written, with its log.
type file struct {
	name  string
	w     spanWriter
	log   log
	begun time.Time
}

// begin begins a file. Its log has a durable name when begin returns.
func (d *folder) begin(ctx context.Context, now time.Time) (*file, error) {
	name, err := d.newName(now)
	if err != nil {
		return nil, err
	}
	f := &file{name: name, begun: now}
	if f.log.f, err = d.fs.Create(d.logPath(name), nil); err != nil {
		return nil, err
	}
	if err = d.fs.SyncDir(filepath.Join(d.dir, LogFolder)); err == nil {
		f.w, err = d.create(ctx, d.filePath(name))
	}
	if err != nil {
		return nil, errors.Join(err, f.log.f.Close(), d.fs.Remove(d.logPath(name)))
	}
	return f, nil
}

// publish ends a file and removes its log. After an error the file must be given up.
func (d *folder) publish(ctx context.Context, f *file) error {
	if err := f.w.Close(ctx); err != nil {
		return err
	}
	d.published(f.w)
	if err := errors.Join(f.log.f.Close(), d.fs.Remove(d.logPath(f.name))); err != nil {
		d.notice(fmt.Sprintf("a log that is not needed any more stays until the next start: %v", err))
	}
	return nil
}

func (d *folder) published(w spanWriter) {
	d.files++
	d.fileBytes += w.Stats().Bytes
}

// giveUp ends a file that failed. Its log stays, and replay writes what was acknowledged.
func (d *folder) giveUp(f *file) error {
	d.acknowledged[f.name] = f.log.durable
	return errors.Join(f.w.Abort(context.Background()), f.log.f.Close())
}

// discard ends a file without spans.
func (d *folder) discard(ctx context.Context, f *file) error {
	return errors.Join(f.w.Abort(context.WithoutCancel(ctx)), f.log.f.Close(), d.fs.Remove(d.logPath(f.name)))
}

// replay writes the files of all logs.
func (d *folder) replay(ctx context.Context) error {
	names, err := d.names(filepath.Join(d.dir, LogFolder), logSuffix)
	if err != nil {
		return err
	}
	for _, name := range names {
		if err := d.replayLog(ctx, name); err != nil {
			return fmt.Errorf("%w (replaying %s)", err, d.logPath(name))
		}
	}
	return nil
}

// replayLog writes the file of a log, unless it exists, and removes the log.
func (d *folder) replayLog(ctx context.Context, name string) error {
	published, err := d.fs.Exists(d.filePath(name))
	if err != nil {
		return err
	}
	lost := int64(0)
	if !published {
		if err := d.removeTemps(name); err != nil {
			return err
		}
		if lost, err = d.rewrite(ctx, name); err != nil {
			return err
		}
	}
	if err := d.fs.SyncDir(d.dir); err != nil { // the name of the file, before the log goes
		return err
	}
	delete(d.acknowledged, name)
	if lost > 0 {
		d.notice(fmt.Sprintf("%s has lost %d bytes that were acknowledged; it is kept as %s", d.logPath(name), lost, name+logSuffix+damaged))
		return d.fs.Rename(d.logPath(name), d.logPath(name)+damaged, true)
	}
	return d.fs.Remove(d.logPath(name))
}

// removeTemps removes what a killed process left of a file.
func (d *folder) removeTemps(name string) error {
	entries, err := d.fs.ReadDir(d.dir)
	if err != nil {
		return err
	}
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), "."+name+fileSuffix+".") && strings.HasSuffix(e.Name(), ".tmp") {
			if err := d.fs.Remove(filepath.Join(d.dir, e.Name())); err != nil {
				return err
			}
		}
	}
	return nil
}

// rewrite writes the file of a log, unless the log has no spans. Lost are the bytes that were durable and are damaged.
func (d *folder) rewrite(ctx context.Context, name string) (lost int64, err error) {
	f, err := d.fs.Open(d.logPath(name))
	if err != nil {
		return 0, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return 0, err
	}
	r := &logReader{f: f, size: info.Size()}
	if n, known := d.acknowledged[name]; known {
		r.size = min(r.size, n)
	}
	w, err := d.create(ctx, d.filePath(name))
	if err != nil {
		return 0, err
	}
	err = copyMessages(ctx, w, r)
	if err != nil || w.Stats().Spans == 0 {
		return r.Damaged, errors.Join(err, w.Abort(context.WithoutCancel(ctx)))
	}
	if err := w.Close(ctx); err != nil {
		return 0, errors.Join(err, w.Abort(context.WithoutCancel(ctx)))
	}
	d.published(w)
	text := fmt.Sprintf("%s is written anew from its log: %d spans", d.filePath(name), w.Stats().Spans)
	if r.Incomplete > 0 {
		text += fmt.Sprintf("; the last %d bytes of the log are incomplete, and were not acknowledged", r.Incomplete)
	}
	d.notice(text)
	return r.Damaged, nil
}

func copyMessages(ctx context.Context, w spanWriter, r *logReader) error {
	for {
		message, ok, err := r.next()
		if err == nil {
			err = ctx.Err()
		}
		if err != nil || !ok {
			return err
		}
		if err := w.WriteOTLP(ctx, message); err != nil {
			return fault.In(err, "log", r.at-int64(len(message)))
		}
	}
}
