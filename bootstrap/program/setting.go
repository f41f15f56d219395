package program

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/prometheus/common/model"
	"github.com/spf13/pflag"

	"github.com/gluepot/gluepot/adapters/cli"
	"github.com/gluepot/gluepot/adapters/gormstore"
	"github.com/gluepot/gluepot/adapters/signin"
)

// setting is the value of a flag that is a setting, from wherever it is set. It keeps what is wrong with the value, so
// that all mistakes are reported at once.
type setting struct {
	pflag.Value

	flag *pflag.Flag
	from cli.Source
	path string // of the file, where from is cli.FromFile
	err  error
}

// addSettings adds some of the lists of settings to a command's flags.
func addSettings(flags *pflag.FlagSet, cfg *config, lists ...func(*pflag.FlagSet, *config)) {
	settings := pflag.NewFlagSet("", pflag.ContinueOnError)
	for _, list := range lists {
		list(settings, cfg)
	}
	settings.VisitAll(func(flag *pflag.Flag) {
		s := &setting{Value: flag.Value, flag: flag, from: cli.FromDefault}
		flag.Value, flag.DefValue = s, s.String()
	})
	flags.AddFlagSet(settings)
}

// settingsOf returns the settings among the flags, in the order of their names.
func settingsOf(flags *pflag.FlagSet) (settings []*setting) {
	flags.VisitAll(func(flag *pflag.Flag) {
		if s, ok := flag.Value.(*setting); ok {
			settings = append(settings, s)
		}
	})
	return settings
}

// Set implements pflag.Value, for the command line.
func (s *setting) Set(text string) error {
	s.set("--"+s.flag.Name, text)
	s.from = cli.FromFlag
	return nil
}

// String implements pflag.Value. A list is as it is typed.
func (s *setting) String() string {
	if list, ok := s.Value.(pflag.SliceValue); ok {
		return strings.Join(list.GetSlice(), ",")
	}
	return s.Value.String()
}

// IsBoolFlag is how pflag recognises the flags whose value may be left out.
func (s *setting) IsBoolFlag() bool { return s.Type() == "bool" }

// variable returns the name of the environment variable.
func (s *setting) variable() string { return environmentName(s.flag.Name) }

// set takes a value, or notes what is wrong with it and keeps the value before. name says where it is set.
func (s *setting) set(name, text string) {
	before := s.String()
	if s.err = cli.CheckValue(name, text); s.err != nil {
		return
	}
	if s.Type() != secret && cli.MayHoldPassword(text) { // a database URL in the wrong place
		_, usage := pflag.UnquoteUsage(s.flag)
		s.err = fmt.Errorf("%s is %s: it is for another value (%s)", name, cli.Quote(text), usage)
		return
	}
	if err := s.Value.Set(text); err != nil {
		s.err = valueError(name, s.flag, text, err)
		if _, isList := s.Value.(pflag.SliceValue); !isList { // a number is 0 now
			_ = s.Value.Set(before)
		}
	}
}

// fill takes the value of the variable, or of the file that the _FILE variable names. An empty variable counts as
// absent.
func (s *setting) fill() {
	name := s.variable()
	value, path := os.Getenv(name), s.secretFile()
	if path == "" {
		if value != "" {
			s.set(name, value)
			s.from = cli.FromVariable
		}
		return
	}
	file := name + fileSuffix
	s.from, s.path = cli.FromFile, path
	if value != "" {
		s.err = fmt.Errorf("%s and %s are both set: choose one", name, file)
		return
	}
	if s.err = cli.CheckValue(file, path); s.err != nil {
		return
	}
	value, err := readSecret(path)
	if err != nil {
		s.err = fmt.Errorf("%s names %s: %w", file, cli.Quote(path), err)
		return
	}
	s.set(file, value)
}

// secretFile returns the path of the file with the value, or "".
func (s *setting) secretFile() string {
	if s.Type() != secret {
		return ""
	}
	return os.Getenv(s.variable() + fileSuffix)
}

// reread returns a function that reads the file of a database URL again, or nil if the URL is not from an ordinary
// file.
func (s *setting) reread() func() (gormstore.URL, error) {
	if info, err := os.Stat(s.path); s.from != cli.FromFile || err != nil || !info.Mode().IsRegular() {
		return nil
	}
	return func() (gormstore.URL, error) {
		content, err := readSecret(s.path)
		return gormstore.URL(content), err
	}
}

// duration is a time.Duration that also takes days and weeks, as the times of commands do.
type duration time.Duration

// String implements pflag.Value.
func (d *duration) String() string {
	if whole := time.Duration(*d); whole%time.Millisecond != 0 {
		return whole.String()
	}
	return model.Duration(*d).String()
}

// Set implements pflag.Value.
func (d *duration) Set(text string) error {
	parsed, err := model.ParseDurationAllowNegative(text)
	if err != nil {
		var plain time.Duration
		plain, err = time.ParseDuration(text) // 1.5h
		parsed = model.Duration(plain)
	}
	if err != nil {
		return errors.New("a time such as 500ms, 10s, 2m or 30d")
	}
	*d = duration(parsed)
	return nil
}

// Type implements pflag.Value.
func (d *duration) Type() string { return "duration" }

// secret is the type of flags that may also be read from a file.
const secret = "secret"

// urlValue keeps the password of a database URL out of the help text.
type urlValue gormstore.URL

func (v *urlValue) String() string {
	if *v == "" {
		return ""
	}
	return gormstore.URL(*v).String()
}
func (v *urlValue) Set(value string) error { *v = urlValue(value); return nil }
func (v *urlValue) Type() string           { return secret }

// secretValue is a text that is never printed.
type secretValue string

func (v *secretValue) String() string         { return signin.Secret(*v).String() }
func (v *secretValue) Set(value string) error { *v = secretValue(value); return nil }
func (v *secretValue) Type() string           { return secret }
