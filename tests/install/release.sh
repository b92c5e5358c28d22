# Tests the version of a build, and tools/release. Sourced by tests/install/run; expects $top and $scratch.

git_here() { git -c user.name=tester -c user.email=tester@example.org -c init.defaultBranch=main -c tag.gpgSign=false -c commit.gpgSign=false "$@"; }

# -- The commit in the version of a build ------------------------------------------------------------------------------

version_of() { echo "0.1.0$("$top/tools/commit" "$1" 0.1.0)"; }

version_has_the_commit() {
  local tree=$scratch/versions
  mkdir "$tree" && cd "$tree"
  equal "$(version_of "$tree")" "0.1.0" # a tarball has no .git
  git_here init -q
  equal "$(version_of "$tree")" "0.1.0-git" # the tree has no commit yet
  echo one >file && git_here add file && git_here commit -qm one
  equal "$(version_of "$tree")" "0.1.0-g$(git rev-parse --short=7 HEAD)"
  touch unknown file
  equal "$(version_of "$tree")" "0.1.0-g$(git rev-parse --short=7 HEAD)"
  echo two >file
  equal "$(version_of "$tree")" "0.1.0-g$(git rev-parse --short=7 HEAD)-dirty"
  git_here commit -qam two
  git_here tag v0.1.0 -m release
  equal "$(version_of "$tree")" "0.1.0"
  git_here commit -q --allow-empty -m three
  equal "$(version_of "$tree")" "0.1.0-g$(git rev-parse --short=7 HEAD)"
}

# -- What a release refuses --------------------------------------------------------------------------------------------

# Makes a tree with little more than the files that are checked before anything is made.
small_tree() {
  tree=$scratch/release-$1
  mkdir -p "$tree/tools"
  cp "$top/tools/release" "$tree/tools"
  echo 'AC_INIT([vmafx], [1.2.3], [url])' >"$tree/configure.ac"
  printf 'Changes\n\n1.2.3 (2026-01-02)\n  Better.\n\n1.2.2 (2025-01-02)\n' >"$tree/CHANGES"
  (cd "$tree" && git_here init -q && commit_all)
}
commit_all() { git_here add -A && git_here commit -qm all; }

# refuses_release TEXT [KEY]: tools/release refuses with TEXT, and leaves nothing behind.
refuses_release() {
  local status=0 said
  said=$("$tree/tools/release" "$scratch/made" ${2+"$2"} 2>&1) || status=$?
  equal "$status $said" "1 release: $1"
  equal "$(ls -A "$scratch/made" 2>/dev/null || true)" ""
}

release_refuses_other_files() {
  small_tree other
  echo more >>"$tree/CHANGES"
  refuses_release "the tree differs from the commit:  M CHANGES"
  (cd "$tree" && git_here checkout -q CHANGES && touch new)
  refuses_release "the tree differs from the commit: ?? new"
  rm -rf "$tree/.git"
  refuses_release "$tree is not a git checkout"
}

release_refuses_without_an_entry() {
  small_tree changes
  sed -i '/^1.2.3/,/^$/d' "$tree/CHANGES" && (cd "$tree" && commit_all)
  refuses_release "the newest entry of CHANGES is '1.2.2 (2025-01-02)', not that of 1.2.3"
  sed -i 's/^1.2.2 .*/1.2.3 (unreleased)/' "$tree/CHANGES" && (cd "$tree" && commit_all)
  refuses_release "the entry '1.2.3 (unreleased)' of CHANGES has no date: 1.2.3 (YYYY-MM-DD)"
}

release_refuses_a_version_that_is_there() {
  small_tree tag
  (cd "$tree" && git_here tag v1.2.3 && git_here commit -q --allow-empty -m more)
  refuses_release "the tag v1.2.3 exists already: choose a new version"
}

release_refuses_a_key_that_is_not_there() {
  small_tree key
  GNUPGHOME=$scratch/no-keys refuses_release "gpg has no secret key nobody@example.org" nobody@example.org
}

# -- What it makes -----------------------------------------------------------------------------------------------------

# Commits this tree as its own first commit, and releases it twice: with a signature, and without.
release_is_made() {
  local tree=$scratch/release-whole version
  version=$(own_version)
  export GNUPGHOME=$scratch/keys
  mkdir -m 700 "$GNUPGHOME"
  gpg --batch --quiet --passphrase '' --quick-generate-key tester@example.org ed25519 sign never
  mkdir "$tree"
  (cd "$top" && git ls-files -z --cached --others --exclude-standard | tar -c --null --ignore-failed-read -T -) | tar -x -C "$tree"
  sed -i "s/^$version (unreleased)/$version (2026-01-02)/" "$tree/CHANGES"
  (cd "$tree" && git_here init -q && commit_all)
  "$tree/tools/release" "$scratch/signed" tester@example.org
  "$tree/tools/release" "$scratch/unsigned"
  (cd "$scratch/signed" && sha256sum --check --strict SHA256SUMS && gpg --verify SHA256SUMS.asc SHA256SUMS)
  equal "$(ls "$scratch/unsigned" | tr '\n' ' ')" "SHA256SUMS vmafx-$version.tar.gz "
  cmp "$scratch"/{signed,unsigned}/SHA256SUMS
  tar -xf "$scratch/signed/vmafx-$version.tar.gz" -C "$scratch"
  [ -x "$scratch/vmafx-$version/configure" ]
  equal "$(version_of "$scratch/vmafx-$version")" 0.1.0
  gpgconf --kill all
}

if ! command -v git >/dev/null; then
  skip "release" "git is not installed"
else
  try "version: has the commit of the build" version_has_the_commit
  try "release: refuses a tree that is not that of the commit" release_refuses_other_files
  try "release: refuses a version without a dated entry in CHANGES" release_refuses_without_an_entry
  try "release: refuses a version that has a tag" release_refuses_a_version_that_is_there
  if ! command -v gpg >/dev/null; then
    skip "release: signed, the same bytes twice" "gpg is not installed"
  elif [ ! -e "$top/.git" ]; then
    skip "release: signed, the same bytes twice" "this is a distribution, not a git clone"
  else
    try "release: refuses a key that is not there" release_refuses_a_key_that_is_not_there
    try_slow "release: signed, the same bytes twice" release_is_made
  fi
fi
