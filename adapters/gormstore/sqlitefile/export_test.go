package sqlitefile

// What TestUndoAgainKeepsTheLock needs: it is in another package, because db imports this one.
var (
	AttachRestored = attachNew
	CloseLog       = closeLog
	UndoAgain      = undoSinceBackup
)
