# Functions for tests in fresh Debians. Sourced; expects $top, $logs (tools/common.sh) and $work, the folder that they
# are made in.

mirror=$(debian_mirror)
this_suite=$(debian_suite)

# Prints why no other Debian can be made here; nothing if it can.
obstacle() {
  if [ "$(id -u)" != 0 ]; then
    echo "only root can make one"
  elif ! command -v debootstrap >/dev/null; then
    echo "debootstrap is not installed"
  elif [ -z "$mirror" ]; then
    echo "apt knows no Debian mirror"
  elif ! unshare --mount --pid --fork true 2>/dev/null; then
    echo "this machine allows no mount namespaces"
  fi
}

# bootstrap SUITE: makes it in $work/SUITE. A mirror that lags behind (a snapshot) will do: signatures are checked.
bootstrap() {
  local suite=$1 root=$work/$1
  rm -rf --one-file-system "$root"
  mkdir -p "$work"
  debootstrap --variant=minbase "$suite" "$root" "$mirror" >"$logs/debootstrap-$suite.log" 2>&1 || return 1
  rm -f "$root"/etc/apt/sources.list.d/*
  echo "deb [check-valid-until=no] $mirror $suite main" >"$root/etc/apt/sources.list"
  apt-config dump | grep -E '^Acquire::https?::Proxy' >"$root/etc/apt/apt.conf.d/80proxy" || true
  cat /etc/resolv.conf >"$root/etc/resolv.conf"
  cat /etc/hosts >"$root/etc/hosts"
  mkdir "$root/vmafx"
}

# Prints why the Debian could not be made.
bootstrap_error() { tail -n 1 "$logs/debootstrap-$1.log"; }

# inside NAME COMMAND…: runs it in $work/NAME, in /vmafx. Its mounts and processes go with it.
inside() {
  local root=$work/$1
  shift
  unshare --mount --pid --fork --kill-child sh -ec '
    root=$1; shift
    mount -t proc proc "$root/proc"
    mount --rbind /dev "$root/dev"
    exec chroot "$root" env -i -C /vmafx HOME=/root PATH=/usr/sbin:/usr/bin:/sbin:/bin LANG=C.UTF-8 "$@"' - "$root" "$@"
}

# copy_tree NAME: copies this tree without build results.
copy_tree() {
  tar -C "$top" -c --exclude='./build*' --exclude=./.git --exclude='./autom4te.cache' --exclude=./configure --exclude='./aclocal.m4' \
    --exclude='Makefile.in' --exclude='./config.h.in*' --exclude='./m4/l*.m4' . | tar -C "$work/$1/vmafx" -x
}
