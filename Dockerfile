# An image that runs bertdata, and Beam's workers on a cluster: on Beam's own, with the stores, and the kernels compiled.
#   docker build --tag IMAGE .     (with BuildKit; where Docker has none, with --target worker)
#   docker run --rm --volume "$PWD:/data" --workdir /data IMAGE build --documents texts.jsonl --output corpus
# Dataflow takes it by --sdk_container_image=IMAGE; a worker of Dask is `docker run IMAGE dask worker ...`. It has no torch.
#   docker build --target flex --build-arg LAUNCHER=BASE --tag IMAGE .
# is the same with the launcher of a Flex template of Dataflow (docs/clusters.md); its workers take it as well. BASE is
# Google's base image for Flex templates in Python, which has the launcher.
ARG BEAM=2.77.0
ARG PYTHON=3.11
ARG LAUNCHER=scratch

FROM apache/beam_python${PYTHON}_sdk:${BEAM} AS worker
COPY . /src/bertdata
RUN pip install --no-cache-dir "/src/bertdata[aws,azure,dask,gcp]" && rm -rf /src/bertdata
# Beam's workers, and `docker run --user`, run as another user with another home: the cache stands where all can use it.
ENV NUMBA_CACHE_DIR=/opt/bertdata-kernels
RUN bertdata compile && chmod -R a+rwX /opt/bertdata-kernels
COPY scripts/image_entrypoint.sh /usr/local/bin/bertdata-entrypoint
ENTRYPOINT ["/usr/local/bin/bertdata-entrypoint"]

FROM ${LAUNCHER} AS launcher

FROM worker AS flex
COPY --from=launcher /opt/google/dataflow/python_template_launcher /opt/google/dataflow/python_template_launcher
COPY scripts/flex_launcher.py /template/flex_launcher.py
ENV FLEX_TEMPLATE_PYTHON_PY_FILE=/template/flex_launcher.py

FROM worker
