package cli

import (
	"context"
	"maps"
	"slices"

	"github.com/spf13/cobra"

	"github.com/gluepot/gluepot/adapters/internal/command"
	"github.com/gluepot/gluepot/application/pastes"
	"github.com/gluepot/gluepot/domain/audit"
	"github.com/gluepot/gluepot/domain/paste"
)

func (c *Commands) pasteEdit() *cobra.Command {
	var (
		input                     pastes.EditInput
		title                     string
		private, public, unlisted bool
		pasties, languages        map[string]string
		added, files              []string
	)
	cmd := c.newCommand("edit ID", "Edit a paste, but only what a flag names",
		"paste edit k3j2h1g0 --title 'how it ended' --public\n"+
			"paste edit k3j2h1g0 --pasty p4q5r6s7=main.go --add go.mod --remove t8u9v0w1\n"+
			"paste edit k3j2h1g0 --language p4q5r6s7=Go --tags ''    # removes all tags",
		func(ctx context.Context, m Modules, args []string) (output, error) {
			texts, err := command.ReadTexts(ctx, c.Stdin, files, m.Pastes.Create.Limits().ContentBytes)
			if err != nil {
				return nil, err
			}
			for i := range texts {
				input.Pasties[i].Code = &texts[i]
			}
			edited, err := m.Pastes.Edit.Do(ctx, audit.Operator(), args[0], input)
			return textOutput(documentView{edited}, "Edited the paste %s.\n", edited.ID), err
		})
	flags := cmd.Flags()
	flags.StringVar(&title, "title", "", "title of the paste")
	flags.StringToStringVar(&pasties, "pasty", nil,
		"`ID=FILE`: replace the pasty's code with the file, or with standard input for -; may be repeated")
	flags.StringArrayVar(&added, "add", nil, "`FILE` to add as a pasty, titled with its name; may be repeated")
	flags.StringArrayVar(&input.Remove, "remove", nil, "`ID` of a pasty to remove; may be repeated")
	flags.StringToStringVar(&languages, "language", nil, "`ID=NAME`: set the pasty's language; may be repeated")
	flags.StringArrayVar(&input.Tags, "tags", nil, "the new tags, separated by commas; empty for none")
	visibilityFlags(cmd, &private, &public)
	flags.BoolVar(&unlisted, "unlisted", false, "everyone who knows its id may read it")
	cmd.MarkFlagsMutuallyExclusive("private", "public", "unlisted")
	cmd.MarkFlagsOneRequired("title", "pasty", "add", "remove", "language", "tags", "private", "public", "unlisted")
	cmd.PreRunE = func(cmd *cobra.Command, _ []string) error {
		input.Title = optional(cmd, "title", &title)
		for visibility, flag := range map[paste.Visibility]bool{
			paste.Private: private, paste.Public: public, paste.Unlisted: unlisted,
		} {
			switch name := visibility.String(); {
			case flag:
				input.Visibility = &visibility
			case flags.Changed(name):
				return Usage("--%s=false does not say what the paste becomes: choose --private, --public or --unlisted", name)
			}
		}
		input.Pasties, files = changedPasties(pasties, added, languages)
		if err := command.CheckInputs(files); err != nil {
			return err
		}
		titles, err := command.Titles(added, "")
		for i, title := range titles {
			input.Pasties[len(pasties)+i].Title = &title
		}
		return err
	}
	return cmd
}

// changedPasties returns the changes of pasties, and the files with the code of the first of them.
func changedPasties(
	codes map[string]string, added []string, languages map[string]string,
) (changes []paste.PastyChanges, files []string) {
	for _, id := range slices.Sorted(maps.Keys(codes)) {
		changes = append(changes, paste.PastyChanges{ID: id, Label: command.DisplayName(codes[id])})
		files = append(files, codes[id])
	}
	for _, file := range added {
		changes = append(changes, paste.PastyChanges{Label: command.DisplayName(file)})
	}
	for _, id := range slices.Sorted(maps.Keys(languages)) {
		at := slices.IndexFunc(changes, func(change paste.PastyChanges) bool { return change.ID == id })
		if at < 0 {
			at, changes = len(changes), append(changes, paste.PastyChanges{ID: id, Label: "the pasty " + Quote(id)})
		}
		changes[at].Language = new(languages[id])
	}
	return changes, append(files, added...)
}
