// Package command has what the program's commands have in common.
package command

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"unicode/utf8"

	"github.com/gluepot/gluepot/domain/fault"
	"github.com/gluepot/gluepot/domain/paste"
)

// Input is a file or standard input.
type Input struct {
	Name string // for messages
	Size int64  // in bytes; -1: unknown
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
	if file == StandardInput {
		return &Input{Name: "standard input", file: stdin, Size: -1}, nil
	}
	f, err := os.Open(file) //nolint:gosec // the operator names it
	if err != nil {
		return nil, unreadable(file, err)
	}
	in := &Input{Name: file, file: f, Size: -1}
	if info, err := f.Stat(); err == nil && info.Mode().IsRegular() {
		in.Size = info.Size()
	}
	return in, nil
}

// Reader returns a reader that ends with ctx, even while a read waits.
func (in *Input) Reader(ctx context.Context) io.Reader {
	if in.Size >= 0 {
		return contextReader{ctx, in.file}
	}
	// Nothing reliably interrupts a read from a terminal or a pipe, so a goroutine does it. It ends with the process, or
	// with the next input.
	r, w := io.Pipe()
	go func() {
		_, err := io.Copy(w, in.file)
		_ = w.CloseWithError(err) // never fails
	}()
	context.AfterFunc(ctx, func() { _ = w.CloseWithError(context.Cause(ctx)) })
	return r
}

// contextReader ends with a context. Without it, a command could read the line ends of a compressed file for minutes.
type contextReader struct {
	ctx context.Context //nolint:containedctx // io.Reader takes none
	io.Reader
}

// Read implements io.Reader.
func (r contextReader) Read(p []byte) (int, error) {
	if r.ctx.Err() != nil {
		return 0, context.Cause(r.ctx)
	}
	return r.Reader.Read(p)
}

// Close closes the file. Its error is ignored, because the file was only read.
func (in *Input) Close() {
	if f, ok := in.file.(*os.File); ok && f != os.Stdin {
		_ = f.Close()
	}
}

// StandardInput stands for standard input in place of a file's name.
const StandardInput = "-"

// Titles returns the titles of the pasties that files become. The title of a file is its path as it was typed, without
// the folders that all files have in common. An input without a name, such as standard input, has no title. name, if
// not empty, is the title of the only file, or of the only input without a name.
func Titles(files []string, name string) ([]string, error) {
	titles, paths, nameless := make([]string, len(files)), make([][]string, len(files)), []int{}
	var common []string
	first := true
	for i, file := range files {
		switch {
		case isNameless(file):
			nameless = append(nameless, i)
		case filepath.IsLocal(file):
			paths[i] = strings.Split(filepath.ToSlash(filepath.Clean(file)), "/")
			if folders := paths[i][:len(paths[i])-1]; first {
				common, first = folders, false
			} else {
				common = commonStart(common, folders)
			}
		default: // an absolute path may reveal more than its sender wants to share
			titles[i] = filepath.Base(file)
		}
	}
	for i, path := range paths {
		if path != nil {
			titles[i] = strings.Join(path[len(common):], "/")
		}
	}
	switch {
	case name == "":
	case len(files) == 1:
		titles[0] = name
	case len(nameless) == 1:
		titles[nameless[0]] = name
	default:
		return nil, Usage("--name is for one input: give one file, or standard input beside files that have names")
	}
	for i := range titles {
		titles[i] = strings.ToValidUTF8(titles[i], "\ufffd")
	}
	return titles, nil
}

// commonStart returns the elements with which both lists begin.
func commonStart(one, other []string) []string {
	n := 0
	for n < min(len(one), len(other)) && one[n] == other[n] {
		n++
	}
	return one[:n]
}

// isNameless reports whether a file is standard input, or a shell's <(command).
func isNameless(file string) bool {
	if file == StandardInput || file == "/dev/stdin" || strings.HasPrefix(file, "/dev/fd/") {
		return true
	}
	info, err := os.Stat(file)
	return err == nil && !info.Mode().IsRegular()
}

// CheckInputs fails if a file does not exist, or if standard input is named twice, so that a mistyped name fails before
// a database is created or other files are read. It opens no file, because a named pipe can be opened only once.
func CheckInputs(files []string) error {
	inputs := 0
	for _, file := range files {
		if file == "" {
			return Usage("a file has no name")
		}
		if file == StandardInput {
			inputs++
		} else if _, err := os.Stat(file); err != nil {
			return unreadable(file, err)
		}
	}
	if inputs > 1 {
		return Usage("only one of the files can be standard input")
	}
	return nil
}

// ReadTexts returns the contents of files, which together must fit into one paste. It stops reading at the limit.
func ReadTexts(ctx context.Context, stdin io.Reader, files []string, limit int) ([]string, error) {
	texts, remaining := make([]string, len(files)), limit
	for i, file := range files {
		in, err := OpenInput(stdin, file)
		if err != nil {
			return nil, err
		}
		text, err := io.ReadAll(io.LimitReader(in.Reader(ctx), int64(remaining)+1))
		in.Close()
		switch {
		case err != nil:
			return nil, unreadable(file, err)
		case len(text) > remaining:
			message := fmt.Sprintf("%s is too large: a paste may have %d bytes in all.", DisplayName(file), limit)
			return nil, fault.New(fault.Invalid, message)
		case !utf8.Valid(text):
			return nil, fault.New(fault.Invalid, fmt.Sprintf("%s is not UTF-8 text.", DisplayName(file)))
		}
		texts[i], remaining = string(text), remaining-len(text)
	}
	return texts, nil
}

// ReadNewTexts is ReadTexts for a new paste. It also refuses an empty standard input if that is the only file: most
// likely the program that should have written it has failed.
func ReadNewTexts(ctx context.Context, stdin io.Reader, files []string, limit int) ([]string, error) {
	texts, err := ReadTexts(ctx, stdin, files, limit)
	if err == nil && len(files) == 1 && files[0] == StandardInput && texts[0] == "" {
		err = fault.New(fault.Invalid, "Standard input is empty: there is nothing to make a paste of.")
	}
	return texts, err
}

// DisplayName returns the name of a file for messages.
func DisplayName(file string) string {
	if file == StandardInput {
		return "standard input"
	}
	return Quote(file)
}

// Lifetimes lists the values that a Lifetime takes.
const Lifetimes = "never, 1h, 2h, 10h, 1d, 2d, 1w, 1month or 1y"

// LifetimeUsage is the usage of a flag that is a Lifetime.
const LifetimeUsage = "how long it lives: " + Lifetimes + " (default never)"

// Lifetime is a flag's value: how long a paste lives, as the API spells it. The API's 1m, a month, may also be 1month.
type Lifetime string

// String implements pflag.Value.
func (l *Lifetime) String() string { return string(*l) }

// Type implements pflag.Value.
func (l *Lifetime) Type() string { return "lifetime" }

// Set implements pflag.Value. An empty text means no lifetime.
func (l *Lifetime) Set(value string) error {
	if value == "1month" {
		value = "1m"
	}
	if _, err := paste.ParseLifetime(value); err != nil && value != "" {
		return errors.New(Lifetimes)
	}
	*l = Lifetime(value)
	return nil
}
