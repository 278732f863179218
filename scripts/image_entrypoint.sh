#!/bin/sh
# What the image runs: `docker run IMAGE build ...` is `bertdata build ...`. Beam starts its workers with flags alone, as
# --id=1 --provision_endpoint=... or --worker_pool, which are for the program that Beam's own image runs; none: the help.
case "${1:-}" in
"") exec bertdata --help ;;
-h | --help | --version) exec bertdata "$@" ;;
-*) exec "${BEAM_BOOT:-/opt/apache/beam/boot}" "$@" ;;
bertdata | dask | python* | bash | sh | /*) exec "$@" ;;
*) exec bertdata "$@" ;;
esac
