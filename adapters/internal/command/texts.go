package command

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"unicode/utf8"

	"github.com/gluepot/gluepot/domain/fault"
	"github.com/gluepot/gluepot/domain/paste"
)

// StandardInput is what to give instead of a file's name.
const StandardInput = "-"

// TitleOf returns the title of the pasty that a file becomes.
func TitleOf(file string) string {
	if file == StandardInput {
		return ""
	}
	return filepath.Base(file)
}

// InputsThere fails if a file is not there, or standard input is to be read twice: before a database is created, or other files are
// read, for a mistyped name. It opens none, because a named pipe can be opened only once.
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
		text, fits, err := readText(ctx, stdin, file, left)
		switch {
		case err != nil:
			return nil, err
		case !fits:
			message := fmt.Sprintf("%s is too large: a paste may have %d bytes in all.", Named(file), limit)
			return nil, fault.New(fault.Invalid, message)
		case !utf8.ValidString(text):
			return nil, fault.New(fault.Invalid, fmt.Sprintf("%s is not text in UTF-8.", Named(file)))
		}
		texts[i], left = text, left-len(text)
	}
	return texts, nil
}

// readText returns what a file holds, unless that does not fit into so many bytes.
func readText(ctx context.Context, stdin io.Reader, file string, limit int) (_ string, fits bool, err error) {
	in, err := OpenInput(stdin, file)
	if err != nil {
		return "", false, err
	}
	defer in.Close()
	if in.Size > int64(limit) {
		return "", false, nil
	}
	var text strings.Builder
	text.Grow(int(max(in.Size, 0)))
	// Others may write to the file, and a pipe does not say how much it has.
	read, err := io.Copy(&text, io.LimitReader(in.Reader(ctx), int64(limit)+1))
	if err != nil {
		return "", false, unreadable(file, err)
	}
	return text.String(), read <= int64(limit), nil
}

// Something fails when there is nothing but an empty standard input: most likely what should have written it has failed.
func Something(files, texts []string) error {
	if len(files) == 1 && files[0] == StandardInput && texts[0] == "" {
		return fault.New(fault.Invalid, "Standard input is empty: there is nothing to make a paste of.")
	}
	return nil
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

// Lifetime is the value of a flag: how long a paste lives, as the API spells it. A month is 1m there, and may be 1month here.
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
		return errors.New("it takes " + Lifetimes)
	}
	*l = Lifetime(typed)
	return nil
}
