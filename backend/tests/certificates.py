"""A certificate for pictures.example, by an authority that only these tests know. It opens nothing anywhere else."""

from __future__ import annotations

import ssl
from pathlib import Path

AUTHORITY = """-----BEGIN CERTIFICATE-----
MIIBhzCCAS2gAwIBAgIUUwNi02KDjyqFoEmZWxpQ/zyFe0gwCgYIKoZIzj0EAwIw
EDEOMAwGA1UEAwwFVGVzdHMwIBcNMjYxMTE4MDE0NzU4WhgPMjEyNjEwMjUwMTQ3
NThaMBAxDjAMBgNVBAMMBVRlc3RzMFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAE
uAz7qb60MkU7CbsSqFIv4uz8XpQy3uftdk4s0mJ95sS3dSLnWqECQw03idiqiFAY
oga8mdREWzDZMv/AdumiKaNjMGEwHQYDVR0OBBYEFEs232DBOVs3pttfzS+ryi/0
gENEMB8GA1UdIwQYMBaAFEs232DBOVs3pttfzS+ryi/0gENEMA8GA1UdEwEB/wQF
MAMBAf8wDgYDVR0PAQH/BAQDAgIEMAoGCCqGSM49BAMCA0gAMEUCIQCD/0VcAWwO
fcFYMgnmikbLwjwvEFQohQzH/9l6IPTxmAIgYHqC2DeXPFluJ4lrk57VJqR5VTwo
6p32dhuldAVIijE=
-----END CERTIFICATE-----
"""
SERVER = """-----BEGIN CERTIFICATE-----
MIIBmTCCAT+gAwIBAgIUL2c3QqDMKVGW93K5a5qZFqyzTxcwCgYIKoZIzj0EAwIw
EDEOMAwGA1UEAwwFVGVzdHMwIBcNMjYxMTE4MDE0NzU4WhgPMjEyNjEwMjUwMTQ3
NThaMBsxGTAXBgNVBAMMEHBpY3R1cmVzLmV4YW1wbGUwWTATBgcqhkjOPQIBBggq
hkjOPQMBBwNCAASHmxBX/Y5whTn0pGx8oKP02nTM09EuhPuZ7KcZSC9KxAws8peV
ubuF+MM8cdgkyYO4HapchV9Z7woGEODS5zdeo2owaDAbBgNVHREEFDASghBwaWN0
dXJlcy5leGFtcGxlMAkGA1UdEwQCMAAwHwYDVR0jBBgwFoAUSzbfYME5Wzem21/N
L6vKL/SAQ0QwHQYDVR0OBBYEFHVdeE4SQ2MzqLbSHa1Zphbx7F3uMAoGCCqGSM49
BAMCA0gAMEUCID5UV4b2AcjWONutec2eL6I5V5zBcQ1ZN8nqdqGHI7SqAiEA545V
HQLW7+XjSHYCkQHBaFdYJcq6CMaY7HwRWrwTOgw=
-----END CERTIFICATE-----
-----BEGIN EC PRIVATE KEY-----
MHcCAQEEIKHIQp6Qfp1q3wAXUrPw6cBGxNzN58QJkPHv4uiPBkOGoAoGCCqGSM49
AwEHoUQDQgAEh5sQV/2OcIU59KRsfKCj9Np0zNPRLoT7meynGUgvSsQMLPKXlbm7
hfjDPHHYJMmDuB2qXIVfWe8KBhDg0uc3Xg==
-----END EC PRIVATE KEY-----
"""


def of_the_server(directory: Path) -> ssl.SSLContext:
    file = directory / "server.pem"
    file.write_text(SERVER)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(file)
    return context


def trusting() -> ssl.SSLContext:
    return ssl.create_default_context(cadata=AUTHORITY)
