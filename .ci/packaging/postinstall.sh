#!/bin/sh
# After an installation (Debian: configure and no version; RPM: 1) or an upgrade (Debian: the old version; RPM: 2).
set -e
getent passwd gluepot >/dev/null ||
  useradd --system --user-group --home-dir /var/lib/gluepot --shell /usr/sbin/nologin gluepot
install -d -m 700 -o gluepot -g gluepot /var/lib/gluepot
chgrp gluepot /etc/gluepot/gluepot.env
if [ -d /run/systemd/system ]; then
  systemctl daemon-reload
  case "$1 $2" in
    "configure " | "1 ") systemctl enable --now gluepot ;;
    *) systemctl try-restart gluepot ;;
  esac
fi
