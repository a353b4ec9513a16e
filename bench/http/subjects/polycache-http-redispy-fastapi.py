"""FastAPI, our cached reads over redis-py."""

from fastapi import FastAPI
from polycache.http.starlette import RepresentationResponse
from reads import answer, heard
from ready import CHANGE, CLIENT, serve

app = FastAPI()


@app.get("/")
async def stream() -> RepresentationResponse:
    return RepresentationResponse(await answer())


notes = ["cached reads: encoded once for each change; at most one second behind"]
serve(app, reads=CHANGE, packages=CLIENT, notes=notes, first=heard)
