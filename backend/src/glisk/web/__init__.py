"""Pages for people: rendered on the server, live by htmx and SSE, no JavaScript build."""
