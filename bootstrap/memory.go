package bootstrap

import "os"

// collectorHeadroom is what may be allocated between two garbage collections beyond what Go's own rule, as
// much as is in use, allows (decision 0013).
const collectorHeadroom = 16 << 20

// reserveHeadroom returns memory to be kept, and never touched, for as long as the program serves: the
// collector takes it for being in use, while the operating system has not provided it. An operator
// who sets GOGC or GOMEMLIMIT decides instead.
func reserveHeadroom() []byte {
	if os.Getenv("GOGC") != "" || os.Getenv("GOMEMLIMIT") != "" {
		return nil
	}
	return make([]byte, collectorHeadroom)
}
