package view

import (
	"time"

	"github.com/gluepot/gluepot/domain/paste"
	"github.com/gluepot/gluepot/domain/search"
)

// List is a page of a list.
type List struct {
	Items []Item `json:"items"`
	Next  string `json:"next,omitempty"`
}

// Item is a paste in a list. Times are seconds since 1970.
type Item struct {
	ID         string   `json:"_id"`
	Title      string   `json:"title"`
	OwnerID    string   `json:"ownerId"`
	Owner      string   `json:"owner"` // the name, if the profile is public
	CreatedAt  int64    `json:"createdAt"`
	EditedAt   int64    `json:"editedAt"`
	DeletesAt  int64    `json:"deletesAt"` // 0: never
	Visibility string   `json:"visibility"`
	Tags       []string `json:"tags"`
	Stars      int64    `json:"stars"`
	Bytes      int64    `json:"bytes"`
	Pasties    []Part   `json:"pasties"`
	Matches    []Match  `json:"matches,omitempty"` // of a search
}

// Part is a pasty in a list.
type Part struct {
	ID       string `json:"_id"`
	Title    string `json:"title"`
	Language string `json:"language"`
	Lines    int    `json:"lines"`
	Preview  string `json:"preview"`
}

// Match is a line that a search has found.
type Match struct {
	Pasty string `json:"pasty"` // its id
	Line  int    `json:"line"`  // from 1
	Text  string `json:"text"`
}

// NewItem returns the view of a paste in a list.
func NewItem(l *paste.Summary) Item {
	item := Item{
		ID: string(l.ID), Title: l.Title, OwnerID: string(l.Owner), Owner: l.OwnerName, CreatedAt: l.CreatedAt.Unix(),
		EditedAt: l.EditedAt.Unix(), DeletesAt: unixOrZero(l.ExpiresAt), Visibility: l.Visibility.String(),
		Tags: append([]string{}, l.Tags...), Stars: l.Stars, Bytes: l.Bytes, Pasties: []Part{},
	}
	for _, p := range l.Pasties {
		item.Pasties = append(item.Pasties, Part(p))
	}
	return item
}

func unixOrZero(at time.Time) int64 {
	if at.IsZero() {
		return 0
	}
	return at.Unix()
}

// NewMatch returns the view of a paste that a search has found.
func NewMatch(match *search.Result) Item {
	item := NewItem(&match.Summary)
	for _, line := range match.Lines {
		item.Matches = append(item.Matches, Match{match.Summary.Pasties[line.Pasty].ID, line.Number, line.Text})
	}
	return item
}
