# One image for every process: glisk listen, work, serve, migrate and all other commands. docker-compose.yml has them together.
FROM python:3.13-slim AS build
ENV PIP_NO_CACHE_DIR=1 PIP_DISABLE_PIP_VERSION_CHECK=1
WORKDIR /app
RUN python -m venv /app/.venv
COPY backend/requirements.txt backend/
RUN /app/.venv/bin/python -m pip install --require-hashes --only-binary :all: -r backend/requirements.txt
COPY backend/pyproject.toml backend/alembic.ini backend/
COPY backend/alembic backend/alembic
COPY backend/src backend/src
# Editable: migrations are found beside the source, as in a checkout.
RUN /app/.venv/bin/python -m pip install --no-deps --no-build-isolation --editable backend
RUN /app/.venv/bin/python -m compileall -q backend/src && /app/.venv/bin/glisk --version

FROM python:3.13-slim
RUN useradd --uid 10001 --home-dir /data --no-create-home --shell /usr/sbin/nologin glisk && install -d -o glisk -g glisk -m 0700 /data
COPY --from=build /app /app
# Beyond the container nobody reaches 127.0.0.1; so an operator key is wanted first: glisk keys create.
ENV PATH=/app/.venv/bin:$PATH PYTHONUNBUFFERED=1 PYTHONDONTWRITEBYTECODE=1 GLISK_DATA_DIR=/data GLISK_HOST=0.0.0.0
WORKDIR /app
USER glisk
VOLUME /data
EXPOSE 8000
HEALTHCHECK --interval=10s --timeout=5s --start-period=30s CMD ["python", "-c", "import os, urllib.request; urllib.request.urlopen('http://127.0.0.1:' + os.environ.get('GLISK_PORT', '8000') + '/health', timeout=4)"]
ENTRYPOINT ["glisk"]
CMD ["serve"]
