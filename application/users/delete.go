package users

import (
	"context"
	"fmt"
	"net/netip"

	"github.com/gluepot/gluepot/domain/audit"
	"github.com/gluepot/gluepot/domain/auditlog"
	"github.com/gluepot/gluepot/domain/fault"
	"github.com/gluepot/gluepot/domain/token"
	"github.com/gluepot/gluepot/domain/user"
)

// Delete removes a user.
type Delete struct{ *module }

var errOwnAccount = fault.New(fault.Invalid, "This is your own account. Delete it at /account/delete.")

// Do removes the user with tokens, stars and pastes; anonymize keeps the pastes, see user.Store.Delete. A name can move
// to another user meanwhile, so both the id and the name must match. Otherwise Do fails with fault.NotFound and removes
// nothing. It fails with fault.Forbidden unless the actor is the operator or an administrator, and with fault.Invalid
// when administrators would delete themselves so.
func (d *Delete) Do(ctx context.Context, actor audit.Actor, target user.User, anonymize bool) error {
	if err := actor.CheckAdministratorWrite(); err != nil {
		return err
	}
	if actor.Is(target.ID) {
		return errOwnAccount
	}
	var retention *user.PasteRetention
	if anonymize {
		retention = &user.PasteRetention{}
	}
	entry := actor.Entry("user.delete", target.NameAndID(), "")
	err := d.store.Delete(ctx, netip.Addr{}, entry, target.ID, target.Name, retention)
	return fault.Replace(err, fault.NotFound,
		fault.New(fault.NotFound, fmt.Sprintf("The user %s no longer exists: the account was renamed or deleted.",
			target.Name)))
}

var errConfirmation = fault.New(fault.Invalid, "This is not your username. Type your username to delete your account.")

// Own deletes the viewer's account, as Do does. The viewer confirms by typing the name. Pastes that are kept live no
// longer than anonymous pastes may. It fails with token.ErrRejected also when the viewer is gone, and with
// fault.Invalid when the typed name is not the viewer's.
func (d *Delete) Own(ctx context.Context, actor audit.Actor, confirmation string, anonymize bool) error {
	viewer, err := actor.User()
	if err != nil {
		return err
	}
	if name, err := user.ParseName(confirmation); err != nil || name.Folded() != viewer.User.Name.Folded() {
		return errConfirmation
	}
	var retention *user.PasteRetention
	if anonymize {
		longest := d.anonymous.Longest
		retention = &user.PasteRetention{Until: longest.End(d.now()), Lifetime: string(longest)}
	}
	err = d.store.Delete(ctx, actor.Address(), auditlog.Entry{}, viewer.User.ID, viewer.User.Name, retention)
	if err != nil && ctx.Err() != nil {
		return fault.Wrap(fault.Unavailable,
			"Your account is not deleted yet, but some of its pastes may be. Send the form again to go on.", err)
	}
	return fault.Replace(err, fault.NotFound, token.ErrRejected)
}
