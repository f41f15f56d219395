package site

import (
	"errors"
	"io"
	"mime"
	"mime/multipart"
	"net/http"
	"net/url"
	"strings"

	"github.com/a-h/templ"

	"github.com/gluepot/gluepot/domain/fault"
)

// ErrBrokenForm is the error for a body that no browser sends for these forms.
var ErrBrokenForm = fault.New(fault.Invalid, "The form could not be read. Open the page again, and send it once more.")

// fields returns the fields of a submitted form, whose origin and length are already checked. It fails with
// fault.Invalid.
func (r *Request) fields() (url.Values, error) {
	media, parameters, err := mime.ParseMediaType(r.Header.Get("Content-Type"))
	switch {
	case err == nil && media == "multipart/form-data": // for long forms, because it does not escape text
		return r.parts(parameters["boundary"])
	case err != nil || media != "application/x-www-form-urlencoded" || r.ParseForm() != nil:
		return nil, ErrBrokenForm
	}
	return r.PostForm, nil
}

// Form returns a handler that reads a form.
func Form(take func(w http.ResponseWriter, r *Request, fields url.Values) error) Handler {
	return func(w http.ResponseWriter, r *Request) error {
		fields, err := r.fields()
		if err != nil {
			return err
		}
		return take(w, r, fields)
	}
}

// FieldCSRF is the field with the value of CSRFToken.
const FieldCSRF = "csrf"

var errNotOurPage = fault.New(fault.Forbidden,
	"This form does not belong to your current session, so nothing was changed. "+
		"Open the page again, and send it once more.")

// OwnForm is Form for accounts, tokens, sessions, and everything that administrators do. The form must have the
// session's CSRFToken. It does not suffice that the browser says "same-origin", because pages of this origin show links
// of strangers.
func OwnForm(take func(w http.ResponseWriter, r *Request, fields url.Values) error) Handler {
	return Form(func(w http.ResponseWriter, r *Request, fields url.Values) error {
		if !r.fromOwnPage(fields.Get(FieldCSRF)) {
			return errNotOurPage
		}
		return take(w, r, fields)
	})
}

// The fields with chosen files and their names.
const (
	FieldFile     = "file"
	FieldFileName = "file name"
)

// These bound the memory of a form: a field takes much more than its text.
const (
	maxFields      = 1000
	maxDisposition = 1 << 10 // of the header with a field's name, whose parameters take many times their length
)

// parts returns the fields of a multipart form.
func (r *Request) parts(boundary string) (url.Values, error) {
	fields, parts := make(url.Values), multipart.NewReader(r.Body, boundary)
	for range maxFields {
		part, err := parts.NextRawPart()
		if errors.Is(err, io.EOF) {
			return fields, nil
		}
		var value strings.Builder
		if err == nil {
			_, err = io.Copy(&value, part)
		}
		if err != nil || len(part.Header.Get("Content-Disposition")) > maxDisposition {
			break
		}
		if name := part.FileName(); name != "" {
			fields.Add(FieldFileName, name)
		} else if part.FormName() == FieldFile { // no file was chosen
			continue
		}
		fields.Add(part.FormName(), value.String())
	}
	return nil, ErrBrokenForm
}

// SeeOther redirects after a form (RFC 9110, 15.4.4). It returns nil.
func (s *Site) SeeOther(w http.ResponseWriter, path string) error {
	KeepPrivate(w)
	w.Header().Set("Location", s.Link(path))
	w.WriteHeader(http.StatusSeeOther)
	return nil
}

// Done redirects to a path unless err is set, which it returns.
func (s *Site) Done(w http.ResponseWriter, path string, err error) error {
	if err != nil {
		return err
	}
	return s.SeeOther(w, path)
}

// FormAgain shows a form again if the error is about its values. Otherwise it returns the error.
func FormAgain(w http.ResponseWriter, r *Request, err error, again templ.Component) error {
	switch fault.KindOf(err) {
	case fault.Invalid:
		return ShowAs(w, r, http.StatusBadRequest, again)
	case fault.Conflict:
		return ShowAs(w, r, http.StatusConflict, again)
	}
	return err
}
