# An image for the workers of a cluster, on Beam's own: bertdata with its stores, and the kernels compiled.
#   docker build --tag IMAGE .
# Dataflow takes it by --sdk_container_image=IMAGE; for Dask run `dask worker` in it (--entrypoint dask).
ARG BEAM=2.77.0
ARG PYTHON=3.11
FROM apache/beam_python${PYTHON}_sdk:${BEAM}
COPY . /src/bertdata
RUN pip install --no-cache-dir "/src/bertdata[aws,dask,gcp]" && rm -rf /src/bertdata
# Beam's workers run as another user with another home: the cache stands where all can read it.
ENV NUMBA_CACHE_DIR=/opt/bertdata-kernels
RUN bertdata compile && chmod -R a+rX /opt/bertdata-kernels
