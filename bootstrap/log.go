package bootstrap

import (
	"errors"
	"io"
	"syscall"
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
	buffered := &zapcore.BufferedWriteSyncer{WS: zapcore.AddSync(w), FlushInterval: 100 * time.Millisecond}
	logger := zap.New(zapcore.NewCore(encoder, buffered, level))
	return logger, func() error { return ignoreUnsyncable(buffered.Stop()) }, nil
}

// ignoreUnsyncable passes over what fsync says of terminals and pipes.
func ignoreUnsyncable(err error) error {
	if errors.Is(err, syscall.EINVAL) || errors.Is(err, syscall.ENOTTY) {
		return nil
	}
	return err
}
