#!/bin/sh
# What the tests need from the system: a browser, a font, gettext. Installs what is missing, nothing else.
set -eu

missing=""
command -v msgfmt >/dev/null 2>&1 || missing="$missing gettext"
command -v chromium >/dev/null 2>&1 || command -v chromium-browser >/dev/null 2>&1 ||
	command -v google-chrome >/dev/null 2>&1 || missing="$missing chromium"
[ -e /usr/share/fonts/truetype/dejavu/DejaVuSans.ttf ] || fc-list 2>/dev/null | grep -qi dejavu ||
	missing="$missing fonts-dejavu-core"

[ -n "$missing" ] || exit 0
if [ "$(id -u)" != 0 ] || ! command -v apt-get >/dev/null 2>&1; then
	echo "The tests need these Debian packages, which only root can install: $missing" >&2
	exit 1
fi
export DEBIAN_FRONTEND=noninteractive
echo "Installing:$missing"
apt-get update -qq
# shellcheck disable=SC2086 # one word for each package
apt-get install -y -qq --no-install-recommends $missing >/dev/null
