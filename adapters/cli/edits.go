package cli

import (
	"context"
	"maps"
	"slices"

	"github.com/spf13/cobra"

	"github.com/gluepot/gluepot/adapters/internal/command"
	"github.com/gluepot/gluepot/application/pastes"
	"github.com/gluepot/gluepot/domain/paste"
)

type editFlags struct {
	private, public      bool
	unlisted             bool
	title                string
	tags, added, removed []string
	pasties, languages   map[string]string
}

func (e *editFlags) add(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.StringVar(&e.title, "title", "", "what to call the paste")
	flags.StringToStringVar(&e.pasties, "pasty", nil,
		"`ID=FILE`: the pasty's code becomes the file's, or standard input's for -; may be repeated")
	flags.StringArrayVar(&e.added, "add", nil, "`FILE` to add as a pasty with the file's name as its title; may be repeated")
	flags.StringArrayVar(&e.removed, "remove", nil, "`ID` of a pasty to remove; may be repeated")
	flags.StringToStringVar(&e.languages, "language", nil, "`ID=NAME`: the pasty's language; may be repeated")
	flags.StringArrayVar(&e.tags, "tags", nil, "the paste's tags from now on, separated by commas; empty for none")
	visibilityFlags(cmd, &e.private, &e.public)
	flags.BoolVar(&e.unlisted, "unlisted", false, "readable by all who know its id")
	cmd.MarkFlagsMutuallyExclusive("private", "public", "unlisted")
	cmd.MarkFlagsOneRequired("title", "pasty", "add", "remove", "language", "tags", "private", "public", "unlisted")
}

func (c *Commands) pasteEdit() *cobra.Command {
	var (
		asked editFlags
		input pastes.EditInput
		files []string
	)
	cmd := c.does("edit ID", "Edit a paste; what has no flag stays as it is",
		"paste edit k3j2h1g0 --title 'how it ended' --public\n"+
			"paste edit k3j2h1g0 --pasty p4q5r6s7=main.go --add go.mod --remove t8u9v0w1\n"+
			"paste edit k3j2h1g0 --language p4q5r6s7=Go --tags ''    # has no tags then",
		func(ctx context.Context, m Modules, args []string) (output, error) {
			texts, err := command.Texts(ctx, c.Stdin, files, m.Pastes.Create.Limits().ContentBytes)
			if err != nil {
				return nil, err
			}
			for i := range texts {
				input.Pasties[i].Code = &texts[i]
			}
			edited, err := m.Pastes.Edit.Do(ctx, args[0], input)
			return said(documentView{edited}, "Edited the paste %s.\n", edited.ID), err
		})
	asked.add(cmd)
	cmd.PreRunE = func(cmd *cobra.Command, _ []string) (err error) {
		input, files, err = asked.input(cmd.Flags().Changed)
		return err
	}
	return cmd
}

// input returns the changes, and the files with the code of their first pasties.
func (e *editFlags) input(given func(flag string) bool) (input pastes.EditInput, files []string, err error) {
	if given("title") {
		input.Title = &e.title
	}
	if given("tags") {
		input.Tags = e.tags
	}
	for visibility, flag := range map[paste.Visibility]bool{paste.Private: e.private, paste.Public: e.public, paste.Unlisted: e.unlisted} {
		switch name := visibility.String(); {
		case flag:
			input.Visibility = &visibility
		case given(name):
			return input, nil, Usage("--%s=false leaves open what the paste is to be: choose --private, --public or --unlisted", name)
		}
	}
	input.Remove = e.removed
	for _, id := range slices.Sorted(maps.Keys(e.pasties)) {
		file := e.pasties[id]
		input.Pasties, files = append(input.Pasties, paste.PastyChanges{ID: id, Label: command.Named(file)}), append(files, file)
	}
	for _, file := range e.added {
		added := paste.PastyChanges{Title: new(command.TitleOf(file)), Label: command.Named(file)}
		input.Pasties, files = append(input.Pasties, added), append(files, file)
	}
	for _, id := range slices.Sorted(maps.Keys(e.languages)) {
		name := e.languages[id]
		at := slices.IndexFunc(input.Pasties, func(known paste.PastyChanges) bool { return known.ID == id })
		if at < 0 {
			at, input.Pasties = len(input.Pasties), append(input.Pasties, paste.PastyChanges{ID: id, Label: "the pasty " + Quote(id)})
		}
		input.Pasties[at].Language = &name
	}
	return input, files, command.InputsThere(files)
}
