#!/bin/sh
# What the image runs: `docker run IMAGE build ...` is `bertdata build ...`. Beam starts its workers with flags alone, as
# --id=1 --provision_endpoint=..., which are for the program that Beam's own image runs; none: the help. --worker_pool is
# the pool of bertdata in the place of Beam's, which stops the workers of other task managers.
case "${1:-}" in
"") exec bertdata --help ;;
--worker_pool) shift && exec python -m bertdata.cli.worker_pool --service_port=50000 "$@" ;;
-h | --help | --version) exec bertdata "$@" ;;
-*) exec "${BEAM_BOOT:-/opt/apache/beam/boot}" "$@" ;;
bertdata | dask | python* | bash | sh | /*) exec "$@" ;;
*) exec bertdata "$@" ;;
esac
