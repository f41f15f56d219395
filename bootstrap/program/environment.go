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
	"github.com/gluepot/gluepot/adapters/gormstore"
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

// complete fills the settings among the flags from the environment, where the command line has none. If all could be read, it
// validates what they set. It fails with a UsageError that names all that is wrong.
func complete(flags *pflag.FlagSet, set interface{ Validate() error }) error {
	wrong := errors.Join(unknownVariables(os.Environ()), fillFromEnvironment(flags), misplacedPasswords(flags))
	if wrong == nil {
		wrong = set.Validate()
	}
	if wrong != nil {
		return cli.Usage("%w", wrong)
	}
	return nil
}

// fillFromEnvironment sets every flag that is not on the command line from its variable, or from the file in its _FILE variable. It
// returns one error for all wrong values. An empty variable counts as absent.
func fillFromEnvironment(flags *pflag.FlagSet) (wrong error) {
	flags.VisitAll(func(flag *pflag.Flag) {
		if _, ok := flag.Annotations[setting]; !ok || flag.Changed {
			return
		}
		value, err := environmentValue(flag)
		if err == nil && value != "" {
			if err = flag.Value.Set(value); err != nil {
				err = wrongValue(environmentName(flag.Name), flag, value, err)
			}
		}
		wrong = errors.Join(wrong, err)
	})
	return wrong
}

// environmentValue returns the value of a flag in the environment, or "".
func environmentValue(flag *pflag.Flag) (string, error) {
	name := environmentName(flag.Name)
	value, path := os.Getenv(name), secretFile(flag)
	switch {
	case path == "":
		return value, nil
	case value != "":
		return "", fmt.Errorf("%s and %s are both set: choose one", name, name+fileSuffix)
	}
	value, err := readSecret(path)
	if err != nil {
		return "", fmt.Errorf("%s names %s: %w", name+fileSuffix, cli.Quote(path), err)
	}
	return value, nil
}

// secretFile returns the path of the file with the value of a flag, or "".
func secretFile(flag *pflag.Flag) string {
	if flag.Value.Type() != secret {
		return ""
	}
	return os.Getenv(environmentName(flag.Name) + fileSuffix)
}

// rereading returns a function that reads the file of a database URL again, or nil if the URL is not from an ordinary file.
func rereading(flag *pflag.Flag) func() (gormstore.URL, error) {
	path := secretFile(flag)
	if about, err := os.Stat(path); flag.Changed || err != nil || !about.Mode().IsRegular() {
		return nil
	}
	return func() (gormstore.URL, error) {
		content, err := readSecret(path)
		return gormstore.URL(content), err
	}
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
	if failed, ok := errors.AsType[*fs.PathError](err); ok {
		err = failed.Err // without the path, which may be a misplaced password
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

// knownVariables are the names of everything that the program reads.
func knownVariables() []string {
	cfg, flags := defaultConfig(), pflag.NewFlagSet("", pflag.ContinueOnError)
	addSettings(flags, &cfg, allSettings...)
	known := []string{client.EnvServer, client.EnvToken, client.EnvPassword}
	flags.VisitAll(func(flag *pflag.Flag) {
		known = append(known, environmentName(flag.Name))
		if flag.Value.Type() == secret {
			known = append(known, environmentName(flag.Name)+fileSuffix)
		}
	})
	return known
}

// unknownVariables fails for variables, of NAME=VALUE pairs, that look like settings and are none: a misspelled one would go
// unnoticed. Those of tests are left alone.
func unknownVariables(variables []string) (wrong error) {
	known := knownVariables()
	slices.Sort(variables)
	for _, variable := range variables {
		name, value, _ := strings.Cut(variable, "=")
		if !strings.HasPrefix(name, environmentPrefix) || strings.HasPrefix(name, environmentPrefix+"TEST_") || value == "" ||
			slices.Contains(known, name) || kubernetes.MatchString(variable) {
			continue
		}
		wrong = errors.Join(wrong, fmt.Errorf("%q is no setting. See 'gluepot serve --help'", name))
	}
	return wrong
}

// kubernetes matches what Kubernetes injects for a service named gluepot or gluepot-SOMETHING
// (kubernetes.io/docs/concepts/services-networking/service/#environment-variables). GLUEPOT_SOMETHING_PORT counts only if its value is a
// URL: it may be a wrong guess at a setting.
var kubernetes = regexp.MustCompile(`^GLUEPOT[A-Z0-9_]*_(SERVICE_(HOST|PORT)|PORT_[0-9]+_(TCP|UDP|SCTP)|PORT=[a-z]+://)`)
