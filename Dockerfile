# Tarantella with all that a fleet needs. Both servers and workers run from it:
#   docker build -t tarantella .                                   docker build --build-arg BROWSER=1 -t tarantella:browser .
FROM python:3.12-slim AS build
WORKDIR /src
COPY pyproject.toml constraints.txt README.md LICENSE ./
COPY src ./src
RUN python -m venv /opt/tarantella \
    && /opt/tarantella/bin/pip install --no-cache-dir --only-binary :all: --constraint constraints.txt '.[celery]'

FROM python:3.12-slim
ARG BROWSER=
# Chromium is half a gigabyte: only for workers that should render pages.
RUN if [ -n "$BROWSER" ]; then apt-get update && apt-get install -y --no-install-recommends chromium && rm -rf /var/lib/apt/lists/*; fi
COPY --from=build /opt/tarantella /opt/tarantella
RUN if [ -n "$BROWSER" ]; then /opt/tarantella/bin/pip install --no-cache-dir --only-binary :all: playwright; fi \
    && useradd --create-home --uid 10001 tarantella && install -d -o tarantella /data
ENV PATH=/opt/tarantella/bin:$PATH TARANTELLA_DATA_DIR=/data PYTHONUNBUFFERED=1
USER tarantella
VOLUME /data
EXPOSE 8000
STOPSIGNAL SIGTERM
ENTRYPOINT ["tarantella"]
CMD ["serve", "--host", "0.0.0.0"]
