package program

import (
	"embed"
	"time"

	"github.com/gluepot/gluepot/application/pastes"
	"github.com/gluepot/gluepot/domain/paste"
)

// demoPaste is a paste that each account has. It expires after its life, or has expired before that; 0 is never.
type demoPaste struct {
	life    time.Duration
	content paste.Content
	edit    *pastes.EditInput // made once
}

// Pasties that the demonstration names.
const (
	demoMain  = "demomain"
	demoCount = "demo0002"
)

var demoPastes = []demoPaste{
	{0, paste.Content{
		Title: "A server in ten lines", Visibility: paste.Public, Tags: []string{"go", "http"}, Lifetime: paste.Never,
		Pasties: []paste.Pasty{
			{ID: demoMain, Title: "main.go", Language: "Go", Code: demoFile("main.go.txt")},
			{ID: "demo0001", Title: "go.mod", Language: "Go", Code: demoFile("go.mod.txt")},
		},
	}, nil},
	{0, paste.Content{
		Title: "Words that occur most often", Lifetime: paste.Never,
		Pasties: []paste.Pasty{
			{ID: demoCount, Title: "count.py", Language: "Python", Code: demoFile("count.py")},
			{ID: "demo0003", Title: "count.sh", Language: "Shell", Code: demoFile("count.sh")},
		},
	}, &pastes.EditInput{
		Title:   new("The ten words that occur most often"),
		Pasties: []paste.PastyChanges{{ID: demoCount, Code: new(demoFile("count_edited.py"))}},
	}},
	{time.Hour, paste.Content{
		Title: "Who has the most pastes?", Lifetime: "1h",
		Pasties: []paste.Pasty{{ID: "demo0004", Title: "owners.sql", Language: "SQL", Code: demoFile("owners.sql")}},
	}, nil},
	{24 * time.Hour, paste.Content{
		Title: "Not for others", Visibility: paste.Private, Tags: []string{"notes"}, Lifetime: "1d",
		Pasties: []paste.Pasty{{ID: "demo0005", Title: "todo.md", Language: "Markdown", Code: demoFile("todo.md")}},
	}, nil},
	{-time.Hour, paste.Content{
		Title: "Too late", Lifetime: "1h",
		Pasties: []paste.Pasty{{ID: "demo0006", Title: "late.js", Language: "JavaScript", Code: "console.log('nobody sees this')\n"}},
	}, nil},
}

//go:embed demo
var demoFiles embed.FS

// demoFile returns the code of a file in the folder demo.
func demoFile(name string) string {
	code, err := demoFiles.ReadFile("demo/" + name)
	if err != nil {
		panic(err) // it is part of the program
	}
	return string(code)
}
