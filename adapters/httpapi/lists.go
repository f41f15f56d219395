package httpapi

import (
	"context"
	"net"
	"slices"
	"strconv"

	"github.com/gluepot/gluepot/adapters/httpapi/wire"
	"github.com/gluepot/gluepot/adapters/internal/view"
	"github.com/gluepot/gluepot/application/pastes"
	"github.com/gluepot/gluepot/domain/paste"
)

// sendList returns the answer with a page of a list, for which it claims memory.
func (a *API) sendList(c *call, items []view.Item, next string) (any, error) {
	text := net.Buffers{encodeJSON(view.List{Items: append([]view.Item{}, items...), Next: next})}
	return &text, a.hold(c, lengthOf(text))
}

func (a *API) sendListPage(c *call, page pastes.ListPage, err error) (any, error) {
	if err != nil {
		return nil, err
	}
	var items []view.Item
	for i := range page.Pastes {
		items = append(items, view.NewItem(&page.Pastes[i]))
	}
	return a.sendList(c, items, page.Next)
}

// listOrders has the names of the orders.
var listOrders = []string{paste.ByCreation: "created", paste.ByEdit: "edited", paste.ByTitle: "title"}

// listQuery reads the parameters of a list.
func listQuery(c *call) (query pastes.ListQuery, err error) {
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
	page, err := a.modules.Pastes.List.Own(ctx, c.viewer, query)
	return a.sendListPage(c, page, err)
}

func (a *API) listStarred(ctx context.Context, c *call) (any, error) {
	query, err := listQuery(c)
	if err != nil {
		return nil, err
	}
	page, err := a.modules.Pastes.List.Starred(ctx, c.viewer, query)
	return a.sendListPage(c, page, err)
}

func (a *API) listUser(ctx context.Context, c *call) (any, error) {
	query, err := listQuery(c)
	if err != nil {
		return nil, err
	}
	page, err := a.modules.Pastes.List.Public(ctx, c.Param("username"), query)
	return a.sendListPage(c, page, err)
}

func (a *API) listRecent(ctx context.Context, c *call) (any, error) {
	if !a.cfg.Recent {
		return nil, errNotFound
	}
	query, err := listQuery(c)
	if err != nil {
		return nil, err
	}
	page, err := a.modules.Pastes.List.Recent(ctx, query)
	return a.sendListPage(c, page, err)
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
	page, err := a.modules.Search.Find.List(ctx, c.viewer, text, query.Cursor, query.Limit)
	if err != nil {
		return nil, err
	}
	var items []view.Item
	for i := range page.Pastes {
		items = append(items, view.NewMatch(&page.Pastes[i]))
	}
	return a.sendList(c, items, page.Next)
}
