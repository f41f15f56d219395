// Package command has what all commands of the program have in common.
package command

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
)

// Input is a file, or standard input, that is read.
type Input struct {
	Name string // for people
	Size int64  // in bytes, -1 when it is not known
	file io.Reader
}

func unreadable(file string, err error) error {
	if pathErr, ok := errors.AsType[*fs.PathError](err); ok {
		err = pathErr.Err
	}
	return Usage("cannot read %s: %v", Quote(file), err)
}

// OpenInput opens a file, or standard input.
func OpenInput(stdin io.Reader, file string) (*Input, error) {
	if file == "-" {
		return &Input{Name: "standard input", file: stdin, Size: -1}, nil
	}
	opened, err := os.Open(file) //nolint:gosec // the operator names it
	if err != nil {
		return nil, unreadable(file, err)
	}
	in := &Input{Name: file, file: opened, Size: -1}
	if info, err := opened.Stat(); err == nil && info.Mode().IsRegular() {
		in.Size = info.Size()
	}
	return in, nil
}

// Reader returns what to read from. It ends with ctx, also where reading may wait for others.
func (in *Input) Reader(ctx context.Context) io.Reader {
	if in.Size >= 0 {
		return &endingReader{ctx: ctx, file: in.file}
	}
	// Nothing interrupts a read from a terminal or a pipe for certain, so it is left behind. It ends with the
	// process, or when there is something to read.
	r, w := io.Pipe()
	go func() {
		_, err := io.Copy(w, in.file)
		_ = w.CloseWithError(err) // never fails, here and below
	}()
	context.AfterFunc(ctx, func() { _ = w.CloseWithError(context.Cause(ctx)) })
	return r
}

// endingReader ends with its context: nothing else looks at that while there is no record, as in a file of blank lines.
type endingReader struct {
	ctx  context.Context //nolint:containedctx // that of reading
	file io.Reader
}

// Read implements io.Reader.
func (r *endingReader) Read(p []byte) (int, error) {
	if r.ctx.Err() != nil {
		return 0, context.Cause(r.ctx)
	}
	return r.file.Read(p)
}

// Close closes what OpenInput has opened; that it was only read, so nothing can be lost.
func (in *Input) Close() {
	if opened, ok := in.file.(*os.File); ok && opened != os.Stdin {
		_ = opened.Close()
	}
}
