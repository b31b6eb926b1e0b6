"""`/docs`: the API described for people, with nothing from anywhere else: its assets come with a package."""

from __future__ import annotations

from importlib.resources import files

from fastapi import APIRouter
from starlette.responses import HTMLResponse, Response

router = APIRouter(include_in_schema=False)

_ASSETS = {
    "swagger-ui-bundle.js": "text/javascript; charset=utf-8",
    "swagger-ui.css": "text/css; charset=utf-8",
    "favicon-32x32.png": "image/png",
}
_START = b'SwaggerUIBundle({url: "/openapi.json", dom_id: "#docs", deepLinking: true, tryItOutEnabled: true});\n'
_PAGE = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Tarantella API</title>
<link rel="stylesheet" href="/docs/assets/swagger-ui.css">
<link rel="icon" href="/docs/assets/favicon-32x32.png">
</head>
<body>
<div id="docs"></div>
<script src="/docs/assets/swagger-ui-bundle.js"></script>
<script src="/docs/assets/start.js"></script>
</body>
</html>
"""
# Nothing from elsewhere, and no script that stands in a page. Swagger UI puts styles and images into what it draws.
_POLICY = {
    "Content-Security-Policy": "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; "
    "img-src 'self' data:; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
}


@router.get("/docs")
async def docs() -> Response:
    return HTMLResponse(_PAGE, headers=_POLICY)


@router.get("/docs/assets/start.js")
async def start() -> Response:
    return Response(_START, headers=_POLICY, media_type="text/javascript; charset=utf-8")


def _asset(name: str) -> Response:
    content = files("fastapi_swagger").joinpath("resources", name).read_bytes()
    return Response(content, headers={**_POLICY, "Cache-Control": "max-age=86400"}, media_type=_ASSETS[name])


@router.get("/docs/assets/swagger-ui-bundle.js")
async def script() -> Response:
    return _asset("swagger-ui-bundle.js")


@router.get("/docs/assets/swagger-ui.css")
async def style() -> Response:
    return _asset("swagger-ui.css")


@router.get("/docs/assets/favicon-32x32.png")
async def icon() -> Response:
    return _asset("favicon-32x32.png")
