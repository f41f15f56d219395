package program

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"regexp"
	"slices"
	"strconv"
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
	// testPrefix is the prefix of the tests' variables, which the program ignores.
	testPrefix = environmentPrefix + "TEST_"
)

// environmentName returns the variable of a flag.
func environmentName(flag string) string {
	return environmentPrefix + strings.ToUpper(strings.ReplaceAll(flag, "-", "_"))
}

// origin marks a flag whose value is from the environment, with the name of the variable and the path of the file, if any.
const origin = "gluepot_origin"

// fillFromEnvironment sets every flag that is not on the command line from its variable, or from the file in its _FILE variable. It
// returns an error for all wrong values, and one for all secrets that cannot be read. An empty variable counts as absent.
func fillFromEnvironment(flags *pflag.FlagSet) (wrong, unread error) {
	flags.VisitAll(func(flag *pflag.Flag) {
		if _, ok := flag.Annotations[setting]; !ok || flag.Changed {
			return
		}
		value, from, err := environmentValue(flag)
		if err != nil {
			unread = errors.Join(unread, err)
			return
		}
		if value == "" {
			return
		}
		if err := flag.Value.Set(value); err != nil {
			shown := cli.Quote(value)
			if len(from) > 1 {
				shown = "the path of a file with something else"
			}
			wrong = errors.Join(wrong, fmt.Errorf("%s is %s: it takes %s", from[0], shown, valueForm(flag)))
			restore(flag)
			return
		}
		flag.Annotations[origin] = from
	})
	return wrong, unread
}

// restore resets a flag to its default: a failed Set may have changed it.
func restore(flag *pflag.Flag) {
	if list, ok := flag.Value.(pflag.SliceValue); ok { // Set cannot parse its DefValue
		_ = list.Replace(nil)
		return
	}
	_ = flag.Value.Set(flag.DefValue)
}

// environmentValue returns the value of a flag in the environment, or "", and its origin.
func environmentValue(flag *pflag.Flag) (value string, from []string, err error) {
	name := environmentName(flag.Name)
	value = os.Getenv(name)
	if !holdsSecret(flag) {
		return value, []string{name}, nil
	}
	fileName := name + fileSuffix
	path := os.Getenv(fileName)
	switch {
	case path == "":
		return value, []string{name}, nil
	case value != "":
		return "", nil, fmt.Errorf("%s and %s are both set: choose one", name, fileName)
	}
	if value, err = readSecret(path); err != nil {
		return "", nil, fmt.Errorf("%s names %s: %w", fileName, cli.Quote(path), err)
	}
	return value, []string{fileName, path}, nil
}

// rereading returns a function that reads the file of a database URL again, or nil if the URL is not from an ordinary file.
func rereading(flags *pflag.FlagSet, name string) func() (gormstore.URL, error) {
	flag := flags.Lookup(name)
	if flag == nil || flag.Changed || len(flag.Annotations[origin]) < 2 {
		return nil
	}
	path := flag.Annotations[origin][1]
	if about, err := os.Stat(path); err == nil && !about.Mode().IsRegular() {
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
	content, err := readSome(path)
	if failed, ok := errors.AsType[*fs.PathError](err); ok {
		err = failed.Err // without the path, which may be a misplaced password
	}
	secret, _ := strings.CutSuffix(string(content), "\n")
	secret, _ = strings.CutSuffix(secret, "\r")
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

// readSome returns the content of a file, and of a longer one maxSecret+1 bytes. The file may be a pipe, such as a shell's <(…).
func readSome(path string) ([]byte, error) {
	file, err := os.Open(path) //nolint:gosec // the operator says which
	if err != nil {
		return nil, err
	}
	defer file.Close() //nolint:errcheck // it was only read
	return io.ReadAll(io.LimitReader(file, maxSecret+1))
}

// knownVariables are the names of everything that the program reads.
func knownVariables() []string {
	cfg, flags := defaultConfig(), pflag.NewFlagSet("", pflag.ContinueOnError)
	allSettings(flags, &cfg)
	known := []string{client.EnvServer, client.EnvToken, client.EnvPassword}
	flags.VisitAll(func(flag *pflag.Flag) {
		known = append(known, environmentName(flag.Name))
		if holdsSecret(flag) {
			known = append(known, environmentName(flag.Name)+fileSuffix)
		}
	})
	return known
}

// misspelling is the number of letters by which a variable may differ from a setting to count as a misspelling of it.
const misspelling = 2

// unknownVariables returns the variables, of NAME=VALUE pairs, that look like settings but are unknown, to warn about them. It fails for
// those that are probably misspelled settings.
func unknownVariables(variables []string) (ignored []string, err error) {
	known := knownVariables()
	var wrong []error
	slices.Sort(variables)
	for _, variable := range variables {
		name, value, _ := strings.Cut(variable, "=")
		if !strings.HasPrefix(name, environmentPrefix) || strings.HasPrefix(name, testPrefix) || value == "" ||
			slices.Contains(known, name) || injected(name, value) {
			continue
		}
		if meant, ok := cli.Nearest(name, known, misspelling); ok {
			wrong = append(wrong, fmt.Errorf("%s is no setting: did you mean %s?", strconv.Quote(name), meant))
			continue
		}
		ignored = append(ignored, name)
	}
	return ignored, errors.Join(wrong...)
}

// service matches Kubernetes' variables for a service named gluepot or gluepot-SOMETHING
// (kubernetes.io/docs/concepts/services-networking/service/#environment-variables).
var service = regexp.MustCompile(`^GLUEPOT_([A-Z0-9_]+?_)??` +
	`(SERVICE_HOST|SERVICE_PORT(?:_[A-Z0-9_]+)?|PORT(?:_[0-9]+_(?:TCP|UDP|SCTP)(?:_(?:PROTO|PORT|ADDR))?)?)$`)

// injected reports whether a variable is from Kubernetes. GLUEPOT_SOMETHING_PORT counts only if its value is a URL: it may be a wrong
// guess at a setting.
func injected(name, value string) bool {
	parts := service.FindStringSubmatch(name)
	return parts != nil && (parts[1] == "" || parts[2] != "PORT" || strings.Contains(value, "://"))
}

func warningAbout(ignored []string) string {
	quoted := make([]string, len(ignored))
	for i, name := range ignored {
		quoted[i] = strconv.Quote(name)
	}
	return "warning: ignoring what is no setting: " + strings.Join(quoted, ", ")
}
