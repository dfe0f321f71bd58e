#!/usr/bin/env bash
# The Debian package: unpacked into an empty root it has the program, whose libraries are found and are of packages that
# it depends on, and which runs there.
. "$(dirname "$0")/../cli/program.sh"
command -v dpkg-deb >/dev/null && command -v dpkg-shlibdeps >/dev/null || { echo "skipped: no dpkg-dev here"; exit 77; }
build="$(dirname -- "$FLITWISE")"
(cd -- "$build" && cpack -G DEB -B "$work/package") >"$work/log" 2>&1 || complain "cpack: $(tail -n 5 "$work/log")"
packages=("$work"/package/flitwise_*.deb)
[[ ${#packages[@]} == 1 && -f ${packages[0]} ]] || { complain "cpack left no package"; finish; exit 1; }
root="$work/root"
dpkg-deb -x "${packages[0]}" "$root"
depends="$(dpkg-deb -f "${packages[0]}" Depends)"
rm -rf -- "$work/package"
for file in bin/flitwise share/flitwise/configs/checks/saturated.yaml share/flitwise/cases share/doc/flitwise/docs/library.md \
  share/flitwise/wireshark/flitwise.lua lib/libflitwise.a include/flitwise/version.h; do
  [[ -e $root/usr/$file ]] || complain "the package lacks /usr/$file"
done

# owner_of FILE: its package, which may know it by the path without /usr, or as what a link leads to.
owner_of() {
  local path owner
  for path in "$1" "${1#/usr}" "/usr$1" "$(realpath -- "$1")" "$(realpath -- "$1" | sed 's,^/usr,,')"; do
    owner="$(dpkg -S "$path" 2>/dev/null | cut -d: -f1)" && [[ -n $owner ]] && { echo "$owner"; return; }
  done
}

# Its libraries go into the root, as the packages that it depends on would put them there.
while read -r name arrow path _; do
  [[ $arrow == '=>' ]] || continue
  [[ -e $path ]] || { complain "the library $name is not found"; continue; }
  owner="$(owner_of "$path")"
  [[ ", $depends," == *", $owner "* ]] || complain "$name is of '$owner', on which the package does not depend"
  install -D -- "$path" "$root$path"
done < <(ldd "$root/usr/bin/flitwise")
loader=/lib64/ld-linux-x86-64.so.2
[[ ! -e $loader ]] || install -D -- "$loader" "$root$loader"

# Cases are found beside the program, and it runs with nothing but its root.
(cd "$root" && usr/bin/flitwise conform --case 'LNK-7.*' >"$work/out" 2>&1) || complain "conform: $(tail -n 3 "$work/out")"
if [[ $EUID == 0 ]]; then
  chroot "$root" /usr/bin/flitwise run /usr/share/flitwise/configs/checks/saturated.yaml --set workload.requests=500 \
    -o /out >"$work/out" 2>&1 || complain "in its root: $(tail -n 3 "$work/out")"
  [[ -s $root/out/result.json ]] || complain "in its root it left no result"
else
  echo "not root: not run in a root of its own"
fi
finish
