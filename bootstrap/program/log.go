package program

import (
	"io"
	"time"

	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"
)

// newLogger returns a logger without sampling, for a complete access log. It writes in batches, as a system call for each request would
// be a fifth of its cost. No request waits for w: lines that it does not take in time are dropped and counted (decision 0022).
//
// The returned function writes the remaining lines; it does not wait for w forever.
func newLogger(level, format string, w io.Writer) (*zap.Logger, func()) {
	from, _ := zapcore.ParseLevel(level) // config.Validate has refused others
	encoding := zap.NewProductionEncoderConfig()
	encoding.TimeKey, encoding.EncodeTime = "time", zapcore.RFC3339NanoTimeEncoder
	encoding.EncodeDuration = zapcore.StringDurationEncoder
	encoder := zapcore.NewJSONEncoder(encoding)
	if format == "console" {
		encoder = zapcore.NewConsoleEncoder(encoding)
	}
	lines := newLineWriter(w, func(dropped int64) []byte {
		entry := zapcore.Entry{Level: zapcore.WarnLevel, Time: time.Now(), Message: "lines of the log were dropped: no reader took them"}
		line, err := encoder.EncodeEntry(entry, []zapcore.Field{zap.Int64("dropped", dropped)})
		if err != nil {
			return nil
		}
		return line.Bytes()
	})
	return zap.New(zapcore.NewCore(encoder, zapcore.AddSync(lines), from)), lines.Close
}
