package lists

// Feed exports the type of feeds to tests.
type Feed = atomFeed
