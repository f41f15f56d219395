package program

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"regexp"
	"slices"
	"strings"

	"github.com/spf13/pflag"

	"github.com/gluepot/gluepot/adapters/cli"
	"github.com/gluepot/gluepot/adapters/client"
)

const (
	// environmentPrefix is the prefix of every variable that is read.
	environmentPrefix = "GLUEPOT_"
	// fileSuffix is the suffix of a variable with the path of a file that contains a secret, as orchestrators mount them.
	fileSuffix = "_FILE"
)

// environmentName returns the variable of a flag.
func environmentName(flag string) string {
	return environmentPrefix + strings.ToUpper(strings.ReplaceAll(flag, "-", "_"))
}

// complete fills the settings among the flags from the environment, where the command line has none, and validates what
// they set. It fails with a UsageError that names all that is wrong.
func complete(flags *pflag.FlagSet, set interface{ Validate() error }) error {
	errs := unknownVariables(os.Environ())
	byVariable, invalid := make(map[string]*setting), make(map[string]bool)
	for _, s := range settingsOf(flags) {
		if byVariable[s.variable()] = s; !s.flag.Changed {
			s.fill()
		}
		if s.err != nil {
			errs = append(errs, s.err)
			invalid[s.variable()] = true
		}
	}
	for _, err := range each(set.Validate()) {
		names := settingInText.FindAllString(err.Error(), -1)
		if slices.ContainsFunc(names, func(name string) bool { return invalid[name] }) {
			continue // it is about another value than the one that was set
		}
		errs = append(errs, errors.New(settingInText.ReplaceAllStringFunc(err.Error(), func(name string) string {
			if s := byVariable[name]; s != nil && s.from == cli.FromFlag {
				return "--" + s.flag.Name
			}
			return name
		})))
	}
	if len(errs) > 0 {
		return cli.Usage("%w", errors.Join(errs...))
	}
	return nil
}

var settingInText = regexp.MustCompile(environmentPrefix + `[A-Z_]+[A-Z]`)

// each returns the errors that were joined.
func each(err error) (all []error) {
	joined, ok := err.(interface{ Unwrap() []error })
	switch {
	case err == nil:
		return nil
	case !ok:
		return []error{err}
	}
	for _, err := range joined.Unwrap() {
		all = append(all, each(err)...)
	}
	return all
}

// maxSecret bounds a secret's file, in bytes.
const maxSecret = 64 << 10

// readSecret returns the content of a file without the final line end. Its errors quote nothing of it.
func readSecret(path string) (string, error) {
	var content []byte
	file, err := os.Open(path) //nolint:gosec // the operator says which
	if err == nil {
		defer file.Close()                                           //nolint:errcheck // it was only read
		content, err = io.ReadAll(io.LimitReader(file, maxSecret+1)) // it may be a pipe, such as a shell's <(…)
	}
	if pathErr, ok := errors.AsType[*fs.PathError](err); ok {
		err = pathErr.Err // without the path, which may be a misplaced password
	}
	secret := strings.TrimSuffix(strings.TrimSuffix(string(content), "\n"), "\r")
	switch {
	case err != nil:
		return "", err
	case len(content) > maxSecret:
		return "", fmt.Errorf("the file is longer than %d bytes", maxSecret)
	case secret == "":
		return "", errors.New("the file is empty")
	case strings.ContainsAny(secret, "\r\n"):
		return "", errors.New("the file has more than one line")
	}
	return secret, nil
}

// variableNames are the names of everything that the program reads.
func variableNames() []string {
	cfg, flags := defaultConfig(), pflag.NewFlagSet("", pflag.ContinueOnError)
	addSettings(flags, &cfg, allSettings...)
	names := []string{client.EnvServer, client.EnvToken, client.EnvPassword}
	for _, s := range settingsOf(flags) {
		names = append(names, s.variable())
		if s.Type() == secret {
			names = append(names, s.variable()+fileSuffix)
		}
	}
	return names
}

// unknownVariables returns an error for each variable, of NAME=VALUE pairs, that looks like a setting and is not one: a
// misspelled one would go unnoticed. Those of tests are left alone.
func unknownVariables(variables []string) (errs []error) {
	names := variableNames()
	slices.Sort(variables)
	for _, variable := range variables {
		name, value, _ := strings.Cut(variable, "=")
		suffix, ok := strings.CutPrefix(strings.TrimPrefix(name, byteOrderMark), environmentPrefix)
		if !ok || strings.HasPrefix(suffix, "TEST_") || value == "" || slices.Contains(names, name) ||
			kubernetes.MatchString(variable) {
			continue
		}
		hint := " See 'gluepot serve --help'"
		if nearest := cli.Nearest(environmentPrefix+suffix, names); nearest != "" {
			hint = " Did you mean " + nearest + "?"
		}
		errs = append(errs, fmt.Errorf("%q is not a setting.%s", name, hint))
	}
	return errs
}

// byteOrderMark begins files of some editors on Windows, and so their first variable.
const byteOrderMark = "\ufeff"

// kubernetes matches what Kubernetes injects for a service named gluepot or gluepot-SOMETHING
// (kubernetes.io/docs/concepts/services-networking/service/#environment-variables). GLUEPOT_SOMETHING_PORT counts only
// if its value is a URL: it may be a wrong guess at a setting.
var kubernetes = regexp.MustCompile(
	`^GLUEPOT[A-Z0-9_]*_(SERVICE_(HOST|PORT)|PORT_[0-9]+_(TCP|UDP|SCTP)|PORT=[a-z]+://)`)
