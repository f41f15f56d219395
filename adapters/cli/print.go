package cli

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/gluepot/gluepot/adapters/internal/command"
)

// printJSON writes one value on one line.
func (c *Commands) printJSON(v any) error {
	var text strings.Builder
	encoder := json.NewEncoder(&text)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(v); err != nil {
		return err
	}
	return command.Write(c.Stdout, c.terminal, text.String())
}

// textOutput writes a text, or v as JSON.
func textOutput(v any, format string, args ...any) output {
	return func(c *Commands) error {
		if c.json {
			return c.printJSON(v)
		}
		_, err := fmt.Fprintf(c.Stdout, format, args...)
		return err
	}
}

// record holds what a command shows of one thing.
type record []field

// field is a value with its key in JSON. Fields with a title are columns of tables.
type field struct {
	key, title string
	value      any
}

// clipped is a text. Tables show only its beginning.
type clipped string

const clippedLength = 40 // characters

// MarshalJSON implements json.Marshaler. The zero time is null.
func (r record) MarshalJSON() ([]byte, error) {
	var text bytes.Buffer
	encoder := json.NewEncoder(&text)
	encoder.SetEscapeHTML(false)
	text.WriteByte('{')
	for i, f := range r {
		if i > 0 {
			text.WriteByte(',')
		}
		fmt.Fprintf(&text, "%q:", f.key)
		value := f.value
		switch v := value.(type) {
		case time.Time:
			if value = v.UTC(); v.IsZero() {
				value = nil
			}
		case fmt.Stringer:
			value = v.String()
		}
		if err := encoder.Encode(value); err != nil {
			return nil, err
		}
	}
	text.WriteByte('}')
	return text.Bytes(), nil
}

// cell returns the value as a table shows it.
func (f field) cell() string {
	switch value := f.value.(type) {
	case time.Time:
		return moment(value)
	case bool:
		if value {
			return "yes"
		}
		return "no"
	case map[string]string:
		var pairs []string
		for _, key := range slices.Sorted(maps.Keys(value)) {
			pairs = append(pairs, key+"="+value[key])
		}
		return command.Line(strings.Join(pairs, ", "))
	case clipped:
		text := []rune(value)
		if len(text) > clippedLength {
			text = append(text[:clippedLength-1], '…')
		}
		return command.Line(string(text))
	default:
		return command.Line(fmt.Sprint(value))
	}
}

// listOutput writes each item on a line: as JSON, which streams, or in a table.
func listOutput[T any](each func(visit func(T) error) error, of func(T) record) output {
	return func(c *Commands) error {
		if c.json {
			return each(func(one T) error { return c.printJSON(of(one)) })
		}
		table := tabwriter.NewWriter(c.Stdout, 0, 0, 2, ' ', 0)
		row := func(one T, cell func(field) string) error {
			var cells []string
			for _, f := range of(one) {
				if f.title != "" {
					cells = append(cells, cell(f))
				}
			}
			_, err := fmt.Fprintln(table, strings.Join(cells, "\t"))
			return err
		}
		err := row(*new(T), func(f field) string { return f.title })
		if err == nil {
			err = each(func(one T) error { return row(one, field.cell) })
		}
		if err != nil {
			return err
		}
		return table.Flush()
	}
}

// recordOutput writes one thing: as JSON, or with each field on a line.
func recordOutput(r record) output {
	return func(c *Commands) error {
		if c.json {
			return c.printJSON(r)
		}
		table := tabwriter.NewWriter(c.Stdout, 0, 0, 2, ' ', 0)
		for _, f := range r {
			_, _ = fmt.Fprintf(table, "%s\t%s\n", f.key, f.cell()) // Flush returns the error
		}
		return table.Flush()
	}
}

// all visits each item of a slice.
func all[T any](slice []T) func(visit func(T) error) error {
	return func(visit func(T) error) error {
		for _, one := range slice {
			if err := visit(one); err != nil {
				return err
			}
		}
		return nil
	}
}

// moment prints an instant, or "never" for the zero time.
func moment(t time.Time) string {
	if t.IsZero() {
		return "never"
	}
	return t.UTC().Format("2006-01-02 15:04:05")
}
