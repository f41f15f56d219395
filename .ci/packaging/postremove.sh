#!/bin/sh
# After a removal. If it is a purge, dpkg removes the settings. Pastes and backups stay, because nothing could restore them.
set -e
[ ! -d /run/systemd/system ] || systemctl daemon-reload || true
if [ "$1" = purge ] && [ -d /var/lib/gluepot ]; then
  rmdir --ignore-fail-on-non-empty /etc/gluepot 2>/dev/null || true
  echo "gluepot: /var/lib/gluepot and the user gluepot stay. To delete every paste: rm -r /var/lib/gluepot && userdel gluepot" >&2
fi
