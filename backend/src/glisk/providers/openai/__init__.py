"""OpenAI: pictures edited over HTTP. It gives no receipt, so what was sent and not answered is known to nobody."""
