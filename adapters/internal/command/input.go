// Package command has what all commands of the program have in common.
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
	if file == StandardInput {
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
		return endingReader{ctx, in.file}
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

// endingReader ends with a context. A reader of a compressed file could otherwise find nothing but line ends for
// minutes.
type endingReader struct {
	ctx context.Context //nolint:containedctx // the context of the reading
	io.Reader
}

// Read implements io.Reader.
func (r endingReader) Read(p []byte) (int, error) {
	if r.ctx.Err() != nil {
		return 0, context.Cause(r.ctx)
	}
	return r.Reader.Read(p)
}

// Close closes what OpenInput has opened. It was only read, so nothing can be lost.
func (in *Input) Close() {
	if opened, ok := in.file.(*os.File); ok && opened != os.Stdin {
		_ = opened.Close()
	}
}

// StandardInput is what to give instead of a file's name.
const StandardInput = "-"

// Titles returns the titles of the pasties that files become. An input without a name, such as standard input, has
// none. A file has its name, and before it the folders that were typed, without those that all have in common. A name,
// if it is not empty, is that of the only file or of the only input without one.
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
		default: // an absolute path says more than its sender may want to share
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

// commonStart returns what two lists begin with.
func commonStart(one, other []string) []string {
	n := 0
	for n < min(len(one), len(other)) && one[n] == other[n] {
		n++
	}
	return one[:n]
}

// isNameless reports whether a file is standard input, or what a shell makes of <(command).
func isNameless(file string) bool {
	if file == StandardInput || file == "/dev/stdin" || strings.HasPrefix(file, "/dev/fd/") {
		return true
	}
	about, err := os.Stat(file)
	return err == nil && !about.Mode().IsRegular()
}

// InputsThere fails if a file is not there, or standard input is to be read twice. So a mistyped name fails before a
// database is created or other files are read. It opens no file, because a named pipe can be opened only once.
func InputsThere(files []string) error {
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

// Texts returns what the files hold, which together must fit into one paste. One that does not fit is not read whole.
func Texts(ctx context.Context, stdin io.Reader, files []string, limit int) ([]string, error) {
	texts, left := make([]string, len(files)), limit
	for i, file := range files {
		in, err := OpenInput(stdin, file)
		if err != nil {
			return nil, err
		}
		text, err := io.ReadAll(io.LimitReader(in.Reader(ctx), int64(left)+1))
		in.Close()
		switch {
		case err != nil:
			return nil, unreadable(file, err)
		case len(text) > left:
			message := fmt.Sprintf("%s is too large: a paste may have %d bytes in all.", Named(file), limit)
			return nil, fault.New(fault.Invalid, message)
		case !utf8.Valid(text):
			return nil, fault.New(fault.Invalid, fmt.Sprintf("%s is not text in UTF-8.", Named(file)))
		}
		texts[i], left = string(text), left-len(text)
	}
	return texts, nil
}

// NewTexts is Texts for a new paste. It also refuses an empty standard input, if that is the only file:
// most likely the program that should have written it has failed.
func NewTexts(ctx context.Context, stdin io.Reader, files []string, limit int) ([]string, error) {
	texts, err := Texts(ctx, stdin, files, limit)
	if err == nil && len(files) == 1 && files[0] == StandardInput && texts[0] == "" {
		err = fault.New(fault.Invalid, "Standard input is empty: there is nothing to make a paste of.")
	}
	return texts, err
}

// Named returns how a message calls a file.
func Named(file string) string {
	if file == StandardInput {
		return "standard input"
	}
	return Quote(file)
}

// Lifetimes are those that a Lifetime takes.
const Lifetimes = "never, 1h, 2h, 10h, 1d, 2d, 1w, 1month or 1y"

// LifetimeUsage is the usage of a flag for Lifetime.
const LifetimeUsage = "how long it lives: " + Lifetimes + " (default never)"

// Lifetime is the value of a flag: how long a paste lives, as the API spells it. A month is 1m there, and may be 1month
// here.
type Lifetime string

// String implements pflag.Value.
func (l *Lifetime) String() string { return string(*l) }

// Type implements pflag.Value.
func (l *Lifetime) Type() string { return "lifetime" }

// Set implements pflag.Value. An empty text is no lifetime.
func (l *Lifetime) Set(typed string) error {
	if typed == "1month" {
		typed = "1m"
	}
	if _, err := paste.ParseLifetime(typed); err != nil && typed != "" {
		return errors.New(Lifetimes)
	}
	*l = Lifetime(typed)
	return nil
}
