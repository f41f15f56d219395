package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync"
)

const (
	pageKept    = "page of 2 KiB of Go, kept / GET /paste/{id}, 8 connections"
	pageNotKept = "page of 2 KiB of Go, not kept, 1 connection, p99 in ms"
)

// pagesApart is a number of pastes whose highlighting does not fit into the cache (maxCached in
// adapters/pages/highlight).
const pagesApart = 5000

// pages compares the page of a paste whose highlighting is cached with the same paste from the API, and measures pages
// without cached highlighting.
func (b *bench) pages(in *installation, d *documents) error {
	if !b.wants(pageKept, pageNotKept) {
		return nil
	}
	ids, err := createDocuments(in, d, pagesApart)
	if err != nil {
		return err
	}
	page := load{to: in.gluepot, path: "/" + ids[0], connections: 8}
	if err := b.compare(pageKept, page, load{to: in.gluepot, path: "/paste/" + ids[0], connections: 8}, 0.5); err != nil {
		return err
	}
	if !b.wants(pageNotKept) {
		return nil
	}
	// Each round begins with another paste, so that it finds nothing that the previous round cached.
	script, err := b.lua("pages",
		fmt.Sprintf("local ids = {\"%s\"}\nmath.randomseed(os.time())\nlocal n = math.random(#ids)\n"+
			"request = function()\n  n = n %% #ids + 1\n  return wrk.format(\"GET\", \"/\" .. ids[n])\nend\n",
			strings.Join(ids, `","`)))
	if err != nil {
		return err
	}
	var rates, p99s []float64
	for range b.rounds {
		round, err := b.wrk(load{to: in.gluepot, path: page.path, script: script, connections: 1})
		if err != nil {
			return err
		}
		rates, p99s = append(rates, round.rate), append(p99s, round.p99/1e3)
	}
	b.add(row{Name: pageNotKept, Ratio: median(p99s), Floor: 60, atMost: true,
		absolute: fmt.Sprintf("%.0f", median(rates))})
	return nil
}

// createDocuments creates this many pastes through the API, and returns their ids.
func createDocuments(in *installation, d *documents, count int) ([]string, error) {
	const clients = 8
	var (
		ids    = make([]string, count)
		errs   [clients]error
		create sync.WaitGroup
	)
	for client := range clients {
		create.Go(func() {
			for i := client; i < count && errs[client] == nil; i += clients {
				var answer []byte
				answer, errs[client] = exchange(load{
					to: in.gluepot, method: http.MethodPost, path: "/paste", body: draft(d.variant(fmt.Sprintf("%012d", i))),
				})
				if errs[client] == nil {
					errs[client] = json.Unmarshal(answer, &struct {
						ID *string `json:"_id"`
					}{&ids[i]})
				}
			}
		})
	}
	create.Wait()
	return ids, errors.Join(errs[:]...)
}
