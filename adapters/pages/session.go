package pages

// reader returns the access token of who sends the request, or "" for somebody who has not signed in.
func (p *Pages) reader(*request) string { return "" }
