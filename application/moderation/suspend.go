package moderation

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"time"

	"github.com/gluepot/gluepot/domain/audit"
	"github.com/gluepot/gluepot/domain/auditlog"
	"github.com/gluepot/gluepot/domain/fault"
	"github.com/gluepot/gluepot/domain/moderation"
	"github.com/gluepot/gluepot/domain/user"
)

var errOwnSuspension = fault.New(fault.Invalid, "This is your own account. Only another administrator can suspend it.")

// Suspend suspends users, and ends suspensions.
type Suspend struct{ *module }

// batchSize is how many pastes are hidden in one transaction.
const batchSize = 100

// Do suspends the user of that name or id: its sessions end, and its tokens are refused (token.ErrSuspended). With hide
// its pastes are hidden until Undo. It returns the user and how many pastes were hidden; after an interruption, call it
// again. It fails as user.Find does, and with fault.Invalid without a reason, or when administrators would suspend
// themselves.
func (s *Suspend) Do(
	ctx context.Context, actor audit.Actor, reference, reason string, hide bool,
) (_ user.User, hidden int, err error) {
	if err := actor.CheckAdministratorWrite(); err != nil {
		return user.User{}, 0, err
	}
	if err := moderation.ValidateReason(reason); err != nil {
		return user.User{}, 0, err
	}
	target, err := user.Find(ctx, s.users, reference)
	if err != nil {
		return user.User{}, 0, err
	}
	if actor.Is(target.ID) {
		return user.User{}, 0, errOwnSuspension
	}
	entry := actor.Entry("user.suspend", target.NameAndID(), reason)
	err = s.set(ctx, entry, target.ID, func(u *user.User, _ map[string]string) error {
		u.Suspended, u.PastesHidden = true, u.PastesHidden || hide
		return nil
	})
	if err != nil {
		return user.User{}, 0, err
	}
	if _, err := s.sessions.EndSessions(ctx, netip.Addr{}, auditlog.Entry{}, target.ID, ""); err != nil || !hide {
		return target, 0, err
	}
	hidden, err = inBatches(func() (int, error) { return s.store.Hide(ctx, target.ID, batchSize) })
	if err != nil && ctx.Err() != nil {
		err = fault.Wrap(fault.Unavailable, fmt.Sprintf(
			"The user is suspended, but only %d pastes are hidden so far. Suspend the user again to hide the "+
				"rest.", hidden), err)
	}
	return target, hidden, err
}

var errNotSuspended = fault.New(fault.Invalid, "That user is not suspended.")

// Undo ends the suspension of a user and shows its pastes again. It returns the user and the number of those pastes. It
// fails as Do does, and with fault.Invalid when the user is not suspended, unless an interrupted call left pastes to
// show.
func (s *Suspend) Undo(
	ctx context.Context, actor audit.Actor, reference string,
) (_ user.User, shown int, err error) {
	if err := actor.CheckAdministratorWrite(); err != nil {
		return user.User{}, 0, err
	}
	target, err := user.Find(ctx, s.users, reference)
	if err != nil {
		return user.User{}, 0, err
	}
	entry := actor.Entry("user.unsuspend", target.NameAndID(), "")
	unsuspendErr := s.set(ctx, entry, target.ID, func(u *user.User, _ map[string]string) error {
		if !u.Suspended {
			return errNotSuspended
		}
		u.Suspended, u.PastesHidden = false, false
		return nil
	})
	if unsuspendErr != nil && !errors.Is(unsuspendErr, errNotSuspended) {
		return user.User{}, 0, unsuspendErr
	}
	shown, err = inBatches(func() (int, error) { return s.store.Unhide(ctx, target.ID, batchSize) })
	switch {
	case err == nil && shown == 0:
		err = unsuspendErr
	case err != nil && ctx.Err() != nil:
		err = fault.Wrap(fault.Unavailable, fmt.Sprintf(
			"The suspension has ended, but only %d pastes are visible again so far. Run 'gluepot user unsuspend' "+
				"again to show the rest.", shown), err)
	}
	return target, shown, err
}

func (s *Suspend) set(
	ctx context.Context, entry auditlog.Entry, id user.ID, change func(*user.User, map[string]string) error,
) error {
	_, _, err := s.users.Update(ctx, netip.Addr{}, entry, id, change)
	return user.ReplaceNotFound(err)
}

func inBatches(do func() (int, error)) (all int, err error) {
	for {
		n, err := do()
		all += n
		if err != nil || n == 0 {
			return all, err
		}
	}
}

// Block keeps networks from writing.
type Block struct{ *module }

// Do blocks a network (see moderation.ParseNetwork) for that time, or for good when the time is zero, and returns the
// block. It fails with fault.Invalid when the text names no network, there is no reason, or the time is negative.
func (b *Block) Do(
	ctx context.Context, actor audit.Actor, network, reason string, expiresIn time.Duration,
) (block moderation.Block, err error) {
	if err := actor.CheckAdministratorWrite(); err != nil {
		return moderation.Block{}, err
	}
	if block.Network, err = moderation.ParseNetwork(network); err != nil {
		return moderation.Block{}, err
	}
	if err := moderation.ValidateReason(reason); err != nil {
		return moderation.Block{}, err
	}
	if expiresIn < 0 {
		return moderation.Block{}, fault.New(fault.Invalid, "The block would already have expired. Choose a positive time.")
	}
	block.Reason, block.CreatedAt = reason, b.now()
	if expiresIn > 0 {
		block.ExpiresAt = block.CreatedAt.Add(expiresIn)
	}
	return block, b.store.Block(ctx, actor.Entry("block.add", block.Network.String(), reason), block)
}

var errNotBlocked = fault.New(fault.NotFound,
	"That network is not blocked. Name exactly the network that was blocked.")

// Undo removes the block of a network, and returns the network. It fails with fault.NotFound when there is none, and as
// Do does.
func (b *Block) Undo(ctx context.Context, actor audit.Actor, network string) (netip.Prefix, error) {
	if err := actor.CheckAdministratorWrite(); err != nil {
		return netip.Prefix{}, err
	}
	prefix, err := moderation.ParseNetwork(network)
	if err != nil {
		return netip.Prefix{}, err
	}
	err = b.store.Unblock(ctx, actor.Entry("block.remove", prefix.String(), ""), prefix)
	return prefix, fault.Replace(err, fault.NotFound, errNotBlocked)
}

// All returns the blocks that have not expired, the latest first.
func (b *Block) All(ctx context.Context, actor audit.Actor) ([]moderation.Block, error) {
	if err := actor.CheckAdministrator(); err != nil {
		return nil, err
	}
	return b.store.Blocks(ctx)
}
