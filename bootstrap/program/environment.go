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
	// fileSuffix stands after the name of a secret's variable where that has the path of a file instead, as orchestrators
	// mount secrets.
	fileSuffix = "_FILE"
	// testPrefix is that of variables for the tests, which are nothing to the program.
	testPrefix = environmentPrefix + "TEST_"
)

// environmentName returns the variable of a flag.
func environmentName(flag string) string {
	return environmentPrefix + strings.ToUpper(strings.ReplaceAll(flag, "-", "_"))
}

// origin marks a flag that has its value from the environment: with the name of the variable, and the path of the file if that
// names one.
const origin = "gluepot_origin"

// fillFromEnvironment sets every flag that the command line left alone from its variable, or from the file that its _FILE
// variable names, if there is one. It returns one error that names every variable with a wrong value, and one that names every secret
// that cannot be read, without which the settings cannot be judged. Empty counts as absent.
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

// restore gives a flag its default again: a number that is none leaves 0, which was not written there.
func restore(flag *pflag.Flag) {
	if list, ok := flag.Value.(pflag.SliceValue); ok { // whose default is printed as it is not read
		_ = list.Replace(nil)
		return
	}
	_ = flag.Value.Set(flag.DefValue)
}

// environmentValue returns what the environment has for a flag, or "", and what the flag is to be marked with.
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

// rereading returns what reads the file again that a database URL came from, or nil when it came from none. What was no ordinary
// file, such as a pipe, was read for good.
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

// maxSecret bounds a file that should have one line.
const maxSecret = 64 << 10

// readSecret returns the content of a file without the line end that editors put there. Its errors have nothing of it.
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

// readSome returns the content of a file, and a byte more than maxSecret of one that is longer. A pipe, such as that of a shell's <(…), is
// read to its end.
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

// misspelling is how many letters a variable may differ in from a setting to be taken for it.
const misspelling = 2

// unknownVariables looks among variables, each NAME=VALUE, for those that look like settings and are none. It returns the names of
// those to warn about, in order, and one error that names each that is probably a misspelled setting: what that was meant
// to say must not be lost.
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

// service matches what Kubernetes puts into the environment of every container for a service that is named gluepot, or
// gluepot-SOMETHING (kubernetes.io/docs/concepts/services-networking/service/#environment-variables).
var service = regexp.MustCompile(`^GLUEPOT_([A-Z0-9_]+?_)??` +
	`(SERVICE_HOST|SERVICE_PORT(?:_[A-Z0-9_]+)?|PORT(?:_[0-9]+_(?:TCP|UDP|SCTP)(?:_(?:PROTO|PORT|ADDR))?)?)$`)

// injected reports whether a variable is of Kubernetes' making. GLUEPOT_SOMETHING_PORT may be a guess at a setting, unless
// there is an address in it.
func injected(name, value string) bool {
	parts := service.FindStringSubmatch(name)
	return parts != nil && (parts[1] == "" || parts[2] != "PORT" || strings.Contains(value, "://"))
}

// warningAbout says that variables are ignored.
func warningAbout(ignored []string) string {
	quoted := make([]string, len(ignored))
	for i, name := range ignored {
		quoted[i] = strconv.Quote(name)
	}
	return "warning: ignoring what is no setting: " + strings.Join(quoted, ", ")
}
