# Sourced by scripts that make virtual environments and install into them. uv does both, in a tenth of pip's CPU time; it
# is installed where it is missing. uv reads no configuration of pip's, so the index and the folders of files are passed on.
command -v uv >/dev/null || python3 -m pip install --quiet uv

_from_pip() { # UV_VARIABLE PIP_VARIABLE SETTING
    local value="${!1:-${!2:-$(python3 -m pip config get "global.$3" 2>/dev/null || true)}}"
    if [ -n "$value" ]; then export "$1=$(xargs <<<"$value" | tr ' ' ',')"; fi
}
_from_pip UV_DEFAULT_INDEX PIP_INDEX_URL index-url
_from_pip UV_FIND_LINKS PIP_FIND_LINKS find-links

# alone COMMAND...: runs an installation while no other runs. Two of these sources at once would write the same files beside
# them, so one waits for the other where there is flock.
alone() {
    local waiting=()
    if command -v flock >/dev/null; then waiting=(flock "${TMPDIR:-/tmp}/bertdata-install.lock"); fi
    "${waiting[@]}" "$@"
}

# install REQUIREMENT...: installs into the environment entered.
install() {
    alone uv pip install --quiet "$@"
}
