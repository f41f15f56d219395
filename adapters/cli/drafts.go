package cli

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/gluepot/gluepot/domain/fault"
	"github.com/gluepot/gluepot/domain/paste"
)

// visibilityFlags are those that say who may read a paste; at most one may be given.
type visibilityFlags struct{ private, public, unlisted bool }

func (v *visibilityFlags) add(cmd *cobra.Command) {
	cmd.Flags().BoolVar(&v.private, "private", false, "only its owner may read it")
	cmd.Flags().BoolVar(&v.public, "public", false, "it is shown on its owner's profile")
}

func (v *visibilityFlags) check() error {
	given := 0
	for _, flag := range []bool{v.private, v.public, v.unlisted} {
		if flag {
			given++
		}
	}
	if given > 1 {
		return Usage("a paste is either private, public or unlisted: choose one")
	}
	return nil
}

func (c *Commands) pasteCreate() *cobra.Command {
	var (
		expiresIn pasteLifetime
		who       visibilityFlags
	)
	cmd := &cobra.Command{
		Use: "create [FILE...]", Short: "Create a paste of files, or of standard input", Args: Arguments("[FILE...]"),
		Long: "Create a paste. Each file becomes a pasty with the file's name as its title; - is standard input, which is also read\n" +
			"when there are no files, and is not empty then. Languages are found by names and content unless --language says otherwise.",
		Example: "  gluepot paste create --owner epoxy --expires-in 1w main.go go.mod\n" +
			"  git diff | gluepot paste create --title 'what has changed' --language Diff\n" +
			"  gluepot paste create --owner epoxy --private --language notes=Markdown notes main.go",
	}
	flags := cmd.Flags()
	owner := flags.String("owner", "", "name or id of the user whose paste it is (default none)")
	addIdentity(cmd)
	anonymous := flags.Bool("anonymous", false, "the paste has no owner, which is also so without --owner")
	title := flags.String("title", "", "what to call the paste")
	languages := flags.StringArray("language", nil, "`NAME` of the language of everything, or FILE=NAME for one file; may be repeated")
	tags := flags.StringArray("tags", nil, "tags of its owner, separated by commas")
	flags.Var(&expiresIn, "expires-in",
		"how long it lives: never, 1month, 1y, or a time such as 30min, 12h, 90d or 2w (default never)")
	who.add(cmd)
	asJSON := jsonFlag(cmd)
	run := func(cmd *cobra.Command, files []string, languages []*string) error {
		return c.run(func(ctx context.Context, m Modules, _ []string) error {
			texts, err := texts(ctx, c.stdin, files, m.Pastes.Create.Limits().ContentBytes)
			if err != nil {
				return err
			}
			if len(files) == 1 && files[0] == standardInput && texts[0] == "" { // most likely what was to be before the pipe failed
				return fault.New(fault.Invalid, "Standard input is empty: there is nothing to make a paste of.")
			}
			draft := paste.Draft{Title: *title, Private: who.private, Public: who.public, Tags: *tags}
			if expiresIn.spelled != "" {
				draft.Lifetime = (*string)(&expiresIn.spelled)
			}
			for i, file := range files {
				draft.Pasties = append(draft.Pasties, paste.PastyDraft{
					Title: titleOf(file), Language: languages[i], Code: &texts[i], Label: named(file),
				})
			}
			created, err := m.Pastes.Create.Do(ctx, *owner, time.Duration(expiresIn.other), draft)
			if err != nil {
				return err
			}
			return c.print(*asJSON, documentView{created}, "Created the paste %s.\n", created.ID)
		})(cmd, nil)
	}
	cmd.RunE = func(cmd *cobra.Command, files []string) error {
		switch {
		case *owner == "" && cmd.Flags().Changed("owner"):
			return Usage("--owner needs the name of a user")
		case *owner != "" && *anonymous:
			return Usage("choose one of --owner and --anonymous")
		case *owner == "" && !cmd.Flags().Changed(identityFlag) && (who.private || who.public || cmd.Flags().Changed("tags")):
			return Usage("only a paste with an --owner can be private, public or tagged")
		}
		if err := who.check(); err != nil {
			return err
		}
		if len(files) == 0 {
			files = []string{standardInput}
		}
		if err := textsThere(files); err != nil {
			return err
		}
		byFile, err := languagesOf(files, *languages)
		if err != nil {
			return err
		}
		return run(cmd, files, byFile)
	}
	return cmd
}

// languagesOf returns the language that is asked for each of the files, or nil, from texts that are each NAME or FILE=NAME.
func languagesOf(files, texts []string) ([]*string, error) {
	var (
		all     *string
		byFile  = make(map[string]*string)
		ordered = make([]*string, len(files))
	)
	for _, text := range texts {
		at := strings.LastIndexByte(text, '=')
		name := text[at+1:]
		switch {
		case at < 0 && all != nil:
			return nil, Usage("--language says twice which language everything has")
		case at < 0:
			all = &name
		case !slices.Contains(files, text[:at]):
			return nil, Usage("--language is %s: there is no file of that name among those given", Quote(text))
		case byFile[text[:at]] != nil:
			return nil, Usage("--language says twice which language %s has", Quote(text[:at]))
		default:
			byFile[text[:at]] = &name
		}
	}
	for i, file := range files {
		if ordered[i] = byFile[file]; ordered[i] == nil {
			ordered[i] = all
		}
	}
	return ordered, nil
}
