package lists

// Feed is what feeds are written from.
type Feed = atomFeed
