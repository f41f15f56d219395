// Package fault defines the kinds of errors that all layers share.
//
// A driven adapter translates its library's errors into these kinds. Use cases pass them on or create their own. A
// driving adapter translates the kind again, such as into an HTTP status or an exit code. The message is public; the
// cause is for the log only.
package fault

import "errors"

// Kind says what sort of failure an error is.
type Kind string

// The kinds. An error without a kind counts as Internal.
const (
	None            Kind = ""                // no failure: the kind of a nil error
	Internal        Kind = "internal"        // a defect or something unforeseen
	NotFound        Kind = "not found"       // the thing asked for does not exist, or may not be seen
	Invalid         Kind = "invalid"         // the caller's input breaks a rule
	Unauthenticated Kind = "unauthenticated" // no token, or one that is not accepted
	Conflict        Kind = "conflict"        // the thing exists already
	Unavailable     Kind = "unavailable"     // a dependency did not answer in time; trying again may help
	Busy            Kind = "busy"            // the process has too much to do at once; trying again may help
	Exhausted       Kind = "exhausted"       // the caller has reached its limit for now
	Gone            Kind = "gone"            // the thing was removed, and the caller may know
	Forbidden       Kind = "forbidden"       // the caller is known, and may not do this
)

// Error is an error with a kind, a sentence for the user and, optionally, a cause for the log.
type Error struct {
	Kind  Kind
	Field string // the input field that breaks a rule, as the sender calls it; empty if no single field does
	// Message is one sentence that anyone may see. With a Field it says what is wrong with it.
	Message string
	cause   error
}

// New returns an error without a cause.
func New(kind Kind, message string) *Error {
	return &Error{Kind: kind, Message: message}
}

// InvalidField returns an error of kind Invalid about a field of the input.
func InvalidField(field, message string) *Error {
	return &Error{Kind: Invalid, Field: field, Message: message}
}

// Wrap returns an error that hides cause behind a public message.
func Wrap(kind Kind, message string, cause error) *Error {
	return &Error{Kind: kind, Message: message, cause: cause}
}

// MessageInternal is the public message of unexpected errors.
const MessageInternal = "Something went wrong on our side."

// Unexpected returns an error of kind Internal, for a cause that has no better kind.
func Unexpected(cause error) *Error { return Wrap(Internal, MessageInternal, cause) }

// Public returns the message, after the field if there is one. Anyone may see it.
func (e *Error) Public() string {
	if e.Field == "" {
		return e.Message
	}
	return e.Field + ": " + e.Message
}

// Error returns the public message and the cause, for logs. Users get Public alone.
func (e *Error) Error() string {
	if e.cause == nil {
		return e.Public()
	}
	return e.Public() + ": " + e.cause.Error()
}

// Unwrap returns the cause, or nil.
func (e *Error) Unwrap() error { return e.cause }

// KindOf returns the kind of the first *Error in err's chain, None if err is nil, and Internal for any other error.
func KindOf(err error) Kind {
	if err == nil {
		return None
	}
	if e, ok := errors.AsType[*Error](err); ok && e.Kind != None {
		return e.Kind
	}
	return Internal
}

// Is reports whether err is a failure of that kind. It is false for nil.
func Is(err error, kind Kind) bool { return err != nil && KindOf(err) == kind }

// Replace returns other if err is of that kind, and else err.
func Replace(err error, kind Kind, other error) error {
	if Is(err, kind) {
		return other
	}
	return err
}

// MessageOf returns the public message of the first *Error in err's chain, "" if err is nil, and MessageInternal for
// any other error.
func MessageOf(err error) string {
	if err == nil {
		return ""
	}
	if e, ok := errors.AsType[*Error](err); ok {
		return e.Public()
	}
	return MessageInternal
}
