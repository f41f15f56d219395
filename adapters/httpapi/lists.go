package httpapi

import (
	"context"
	"net"
	"slices"
	"strconv"
	"time"

	"github.com/gluepot/gluepot/adapters/httpapi/wire"
	"github.com/gluepot/gluepot/application/pastes"
	"github.com/gluepot/gluepot/domain/paste"
	"github.com/gluepot/gluepot/domain/search"
)

// listView is a page of a list.
type listView struct {
	Items []itemView `json:"items"`
	Next  string     `json:"next,omitempty"`
}

// itemView is a paste in a list. Times are seconds since 1970.
type itemView struct {
	ID         string      `json:"_id"`
	Title      string      `json:"title"`
	OwnerID    string      `json:"ownerId"`
	Owner      string      `json:"owner"` // the name, if the profile is public
	CreatedAt  int64       `json:"createdAt"`
	EditedAt   int64       `json:"editedAt"`
	DeletesAt  int64       `json:"deletesAt"` // 0: never
	Visibility string      `json:"visibility"`
	Tags       []string    `json:"tags"`
	Stars      int64       `json:"stars"`
	Bytes      int64       `json:"bytes"`
	Pasties    []partView  `json:"pasties"`
	Matches    []matchView `json:"matches,omitempty"` // of a search
}

// partView is a pasty of a paste in a list.
type partView struct {
	ID       string `json:"_id"`
	Title    string `json:"title"`
	Language string `json:"language"`
	Lines    int    `json:"lines"`
	Preview  string `json:"preview"`
}

// matchView is a line that matches a search.
type matchView struct {
	Pasty string `json:"pasty"` // its id
	Line  int    `json:"line"`  // from 1
	Text  string `json:"text"`
}

func newItem(l *paste.Summary) itemView {
	item := itemView{
		ID: string(l.ID), Title: l.Title, OwnerID: string(l.Owner), Owner: l.OwnerName, CreatedAt: l.CreatedAt.Unix(),
		EditedAt: l.EditedAt.Unix(), DeletesAt: unixOrZero(l.ExpiresAt), Visibility: l.Visibility.String(),
		Tags: append([]string{}, l.Tags...), Stars: l.Stars, Bytes: l.Bytes, Pasties: []partView{},
	}
	for _, p := range l.Pasties {
		item.Pasties = append(item.Pasties, partView(p))
	}
	return item
}

func unixOrZero(at time.Time) int64 {
	if at.IsZero() {
		return 0
	}
	return at.Unix()
}

// sendList returns the answer with a page of a list, for which it claims memory.
func (a *API) sendList(c *call, items []itemView, next string) (any, error) {
	text := net.Buffers{encodeJSON(listView{append([]itemView{}, items...), next})}
	return &text, a.hold(c, lengthOf(text))
}

func (a *API) sendOutline(c *call, page pastes.Outline, err error) (any, error) {
	if err != nil {
		return nil, err
	}
	var items []itemView
	for i := range page.Pastes {
		items = append(items, newItem(&page.Pastes[i]))
	}
	return a.sendList(c, items, page.Next)
}

// listOrders has the names of the orders.
var listOrders = []string{paste.ByCreation: "created", paste.ByEdit: "edited", paste.ByTitle: "title"}

// listQuery reads the parameters of a list.
func listQuery(c *call) (query pastes.OutlineQuery, err error) {
	query.Tag, _ = parameter(c, "tag")
	query.Title, _ = parameter(c, "title")
	query.Cursor, _ = parameter(c, "cursor")
	if sort, ok := parameter(c, "sort"); ok {
		order := slices.Index(listOrders, sort)
		if order < 0 {
			return query, wire.Invalid("sort: it must be created, edited or title.")
		}
		query.Order = paste.Order(order)
	}
	if limit, ok := parameter(c, "limit"); ok {
		if query.Limit, err = strconv.Atoi(limit); err != nil || query.Limit == 0 {
			query.Limit = -1 // which the use case refuses
		}
	}
	return query, nil
}

func (a *API) listOwn(ctx context.Context, c *call) (any, error) {
	query, err := listQuery(c)
	if err != nil {
		return nil, err
	}
	page, err := a.modules.Pastes.Outlines.Own(ctx, c.viewer, query)
	return a.sendOutline(c, page, err)
}

func (a *API) listStarred(ctx context.Context, c *call) (any, error) {
	query, err := listQuery(c)
	if err != nil {
		return nil, err
	}
	page, err := a.modules.Pastes.Outlines.Starred(ctx, c.viewer, query)
	return a.sendOutline(c, page, err)
}

func (a *API) listUser(ctx context.Context, c *call) (any, error) {
	query, err := listQuery(c)
	if err != nil {
		return nil, err
	}
	page, err := a.modules.Pastes.Outlines.Public(ctx, c.Param("username"), query)
	return a.sendOutline(c, page, err)
}

func (a *API) listRecent(ctx context.Context, c *call) (any, error) {
	if !a.cfg.Recent {
		return nil, errNotFound
	}
	query, err := listQuery(c)
	if err != nil {
		return nil, err
	}
	page, err := a.modules.Pastes.Outlines.Recent(ctx, query)
	return a.sendOutline(c, page, err)
}

func (a *API) listSearch(ctx context.Context, c *call) (any, error) {
	if a.modules.Search == nil || a.modules.Search.Find.Off() {
		return nil, errNotFound
	}
	query, err := listQuery(c)
	if err != nil {
		return nil, err
	}
	text, _ := parameter(c, "q")
	page, err := a.modules.Search.Find.Outline(ctx, c.viewer, text, query.Cursor, query.Limit)
	if err != nil {
		return nil, err
	}
	var items []itemView
	for i := range page.Pastes {
		items = append(items, newMatch(&page.Pastes[i]))
	}
	return a.sendList(c, items, page.Next)
}

func newMatch(match *search.Result) itemView {
	item := newItem(&match.Summary)
	for _, line := range match.Lines {
		item.Matches = append(item.Matches, matchView{match.Summary.Pasties[line.Pasty].ID, line.Number, line.Text})
	}
	return item
}
