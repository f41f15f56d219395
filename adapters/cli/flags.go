package cli

import (
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/gluepot/gluepot/domain/moderation"
)

// optional returns the value of a flag, or nil if the command line does not have it.
func optional[T any](cmd *cobra.Command, flag string, value *T) *T {
	if !cmd.Flags().Changed(flag) {
		return nil
	}
	return value
}

// setter returns the function that sets a flag of pflag.Func. The errors of the functions below, and of package
// quantity, say which values a flag takes.
func setter[T any](value *T, parse func(text string) (T, error)) func(text string) error {
	return func(text string) (err error) {
		*value, err = parse(text)
		return err
	}
}

// parseReason accepts a reason for the audit log.
func parseReason(text string) (string, error) {
	if moderation.ValidateReason(text) != nil {
		return "", fmt.Errorf("one line of at most %d bytes", moderation.MaxReason)
	}
	return text, nil
}

// reasonFlag adds --reason, which must be given.
func reasonFlag(cmd *cobra.Command, reason *string) {
	cmd.Flags().Func("reason", "reason for the audit log", setter(reason, parseReason))
	_ = cmd.MarkFlagRequired("reason") // never fails: the flag is there
}

// orAnonymous accepts a word, or "anonymous", for which it returns true.
func orAnonymous(word string) func(text string) (bool, error) {
	return func(text string) (bool, error) {
		if text != word && text != "anonymous" {
			return false, errors.New(word + " or anonymous")
		}
		return text == "anonymous", nil
	}
}

// visibilityFlags adds flags for who may read a paste; at most one may be given.
func visibilityFlags(cmd *cobra.Command, private, public *bool) {
	cmd.Flags().BoolVar(private, "private", false, "only its owner may read it")
	cmd.Flags().BoolVar(public, "public", false, "its owner's profile shows it")
	cmd.MarkFlagsMutuallyExclusive("private", "public")
}
