package program

import (
	"io"
	"time"

	"go.uber.org/fx"
	"go.uber.org/fx/fxevent"
	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"
)

// logModule writes the log to stderr. fx's own events are not logged, except for the last one, the result of a stop,
// which also closes the log.
func logModule(stderr io.Writer) fx.Option {
	return fx.Options(
		fx.WithLogger(func(log *closingLog) fxevent.Logger { return log }),
		fx.Module("log", fx.Provide(
			func(cfg config) *closingLog {
				log, closeLog := newLogger(cfg.LogLevel, cfg.LogFormat, stderr)
				return &closingLog{log, closeLog}
			},
			func(log *closingLog) *zap.Logger { return log.Logger },
		)),
	)
}

// closingLog is a log that must be closed, so that no line is lost.
type closingLog struct {
	*zap.Logger

	close func()
}

// LogEvent implements fxevent.Logger.
func (l *closingLog) LogEvent(event fxevent.Event) {
	switch event := event.(type) {
	case *fxevent.Started:
		if event.Err != nil { // the program prints it
			l.close()
		}
	case *fxevent.Stopped:
		if event.Err != nil {
			l.Warn("the stop was incomplete", zap.Error(event.Err))
		}
		l.Info("stopped")
		l.close()
	}
}

// newLogger returns a logger without sampling, for a complete access log. It writes in batches, as a system call for
// each request would be a fifth of its cost. No request waits for w: lines that it does not take in time are dropped
// and counted (decision 0023).
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
		entry := zapcore.Entry{Level: zapcore.WarnLevel, Time: time.Now(),
			Message: "lines of the log were dropped: no reader took them"}
		line, err := encoder.EncodeEntry(entry, []zapcore.Field{zap.Int64("dropped", dropped)})
		if err != nil {
			return nil
		}
		return line.Bytes()
	})
	return zap.New(zapcore.NewCore(encoder, zapcore.AddSync(lines), from)), lines.Close
}
