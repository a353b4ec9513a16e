"""A cache before an application: `polycache.http.asgi` and `polycache.http.wsgi` have it."""
