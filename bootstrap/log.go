package bootstrap

import (
	"io"
	"time"

	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"
)

// newLogger writes to w: unsampled, because a sampled access log has holes, and through a buffer,
// because a system call for each request would be a fifth of its cost. The buffer is emptied ten times a
// second and when the returned function is called. What a killed process had in it is lost.
func newLogger(cfg LogConfig, w io.Writer) (*zap.Logger, func() error, error) {
	level, err := zapcore.ParseLevel(cfg.Level)
	if err != nil {
		return nil, nil, err
	}
	encoding := zap.NewProductionEncoderConfig()
	encoding.TimeKey, encoding.EncodeTime = "time", zapcore.RFC3339NanoTimeEncoder
	encoding.EncodeDuration = zapcore.StringDurationEncoder
	encoder := zapcore.NewJSONEncoder(encoding)
	if cfg.Format == "console" {
		encoder = zapcore.NewConsoleEncoder(encoding)
	}
	// The bare writer has no Sync: the buffer would call it each time, and fsync of a log file ten times a
	// second costs more than all the rest of logging.
	buffered := &zapcore.BufferedWriteSyncer{WS: zapcore.AddSync(struct{ io.Writer }{w}), FlushInterval: 100 * time.Millisecond}
	logger := zap.New(zapcore.NewCore(encoder, buffered, level))
	return logger, buffered.Stop, nil
}
