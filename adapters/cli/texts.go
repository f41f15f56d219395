package cli

import (
	"context"
	"fmt"
	"io"
	"path/filepath"
	"strings"
	"unicode/utf8"

	"github.com/gluepot/gluepot/domain/fault"
	"github.com/gluepot/gluepot/domain/paste"
)

// standardInput is what to give instead of a file's name.
const standardInput = "-"

// titleOf returns the title of the pasty that a file becomes.
func titleOf(file string) string {
	if file == standardInput {
		return ""
	}
	return filepath.Base(file)
}

// textsThere fails if a file is not there, or standard input is to be read twice: before anything else happens.
func textsThere(files []string) error {
	inputs := 0
	for _, file := range files {
		if file == "" {
			return Usage("a file has no name")
		}
		if file == standardInput {
			inputs++
		}
		if err := inputThere(file); err != nil {
			return err
		}
	}
	if inputs > 1 {
		return Usage("only one of the files can be standard input")
	}
	return nil
}

// texts returns what the files hold, which together must fit into one paste. One that does not fit is not read whole.
func (c *Commands) texts(ctx context.Context, files []string, limits paste.Limits) ([]string, error) {
	texts, left := make([]string, len(files)), limits.ContentBytes
	for i, file := range files {
		text, fits, err := c.text(ctx, file, left)
		switch {
		case err != nil:
			return nil, err
		case !fits:
			message := fmt.Sprintf("%s is too large: a paste may have %d bytes in all.", named(file), limits.ContentBytes)
			return nil, fault.New(fault.Invalid, message)
		case !utf8.ValidString(text):
			return nil, fault.New(fault.Invalid, fmt.Sprintf("%s is not text in UTF-8.", named(file)))
		}
		texts[i], left = text, left-len(text)
	}
	return texts, nil
}

// text returns what a file holds, unless that does not fit into so many bytes.
func (c *Commands) text(ctx context.Context, file string, limit int) (_ string, fits bool, err error) {
	in, err := c.openInput(file)
	if err != nil {
		return "", false, err
	}
	defer in.close()
	if in.size > int64(limit) {
		return "", false, nil
	}
	var text strings.Builder
	text.Grow(int(max(in.size, 0)))
	// Others may write to the file, and nobody knows how much a pipe has.
	read, err := io.Copy(&text, io.LimitReader(in.reader(ctx), int64(limit)+1))
	if err != nil {
		return "", false, unreadable(file, err)
	}
	return text.String(), read <= int64(limit), nil
}

// named returns how a message calls a file.
func named(file string) string {
	if file == standardInput {
		return "standard input"
	}
	return Quote(file)
}
