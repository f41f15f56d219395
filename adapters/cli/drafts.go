package cli

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/gluepot/gluepot/adapters/internal/command"
	"github.com/gluepot/gluepot/domain/audit"
	"github.com/gluepot/gluepot/domain/paste"
)

func (c *Commands) pasteCreate() *cobra.Command {
	var (
		cmd             *cobra.Command
		draft           paste.Draft
		lifetime        command.Lifetime
		owner, language string
		name            string
		files           []string
	)
	cmd = c.newCommand("create [FILE...]", "Create a paste of files, or of standard input",
		"paste create --owner epoxy --expires-in 1w main.go go.mod",
		func(ctx context.Context, m Modules, _ []string) (output, error) {
			texts, err := command.ReadNewTexts(ctx, c.Stdin, files, m.Pastes.Create.Limits().ContentBytes)
			if err != nil {
				return nil, err
			}
			titles, err := command.Titles(files, name)
			if err != nil {
				return nil, err
			}
			draft.Lifetime = optional(cmd, "expires-in", (*string)(&lifetime))
			for i, file := range files {
				draft.Pasties = append(draft.Pasties, paste.PastyDraft{
					Title: titles[i], Code: &texts[i], Label: command.DisplayName(file),
					Language: optional(cmd, "language", &language),
				})
			}
			created, err := m.Pastes.Create.Do(ctx, audit.Operator(), owner, draft)
			return textOutput(documentView{created}, "Created the paste %s.\n", created.ID), err
		})
	cmd.Long = "Create a paste. Each file becomes a pasty, titled with its path without the folders that all files\n" +
		"share, or with its name alone if it is outside of the current folder. Name - for standard input,\n" +
		"which is also read if you name no file; --name gives it a name.\n" +
		"Languages are detected from names and content, unless --language says otherwise."
	cmd.Example += "\n  git diff | gluepot paste create --name work.diff"
	flags := cmd.Flags()
	flags.StringVar(&owner, "owner", "", "name or id of the user who owns the paste (default none)")
	addIdentity(cmd)
	flags.StringVar(&draft.Title, "title", "", "title of the paste")
	flags.StringVar(&name, "name", "", "`FILE` name for standard input, or for the only file")
	flags.StringVar(&language, "language", "", "`NAME` of the language of all files (default: detected)")
	flags.StringArrayVar(&draft.Tags, "tags", nil, "tags, separated by commas")
	flags.Var(&lifetime, "expires-in", command.LifetimeUsage)
	visibilityFlags(cmd, &draft.Private, &draft.Public)
	cmd.PreRunE = func(cmd *cobra.Command, args []string) error {
		if err := command.NoneEmpty(cmd, "owner", "language", "expires-in", "name"); err != nil {
			return err
		}
		if owner == "" && !flags.Changed(identityFlag) && (draft.Private || draft.Public || flags.Changed("tags")) {
			return Usage("only a paste with an --owner can be private, public or tagged")
		}
		if files = args; len(files) == 0 {
			files = []string{command.StandardInput}
		}
		return command.CheckInputs(files)
	}
	return cmd
}
