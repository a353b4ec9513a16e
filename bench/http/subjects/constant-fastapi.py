"""FastAPI, the same bytes from memory."""

from constant import constant_bytes
from fastapi import FastAPI, Response
from ready import NEVER, serve

app = FastAPI()
content = constant_bytes()


@app.get("/")
async def stream() -> Response:
    return Response(content, media_type="application/json")


serve(app, reads=NEVER)
