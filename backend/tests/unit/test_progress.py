"""How far a long command says it is."""

from __future__ import annotations

import pytest

from glisk.cli.progress import Lines, sentence


@pytest.mark.parametrize(
    ("done", "seconds", "told"),
    [
        (0, 0.0, "0 of 200,000 blocks, 0 blocks/s, 1,234 tokens"),
        (50_000, 25.0, "50,000 of 200,000 blocks, 2,000 blocks/s, 1,234 tokens, 0:01:15 left"),
        (200_000, 100.0, "200,000 of 200,000 blocks, 2,000 blocks/s, 1,234 tokens"),
    ],
)
def test_it_tells_speed_tokens_and_when_it_will_be_done(done: int, seconds: float, told: str) -> None:
    assert sentence(done, 200_000, 1234, seconds) == told


def test_a_pipe_gets_a_line_now_and_then_and_one_at_the_end(capsys: pytest.CaptureFixture[str]) -> None:
    clock = [0.0]
    told = Lines("Backfill", lambda: clock[0])
    for done in range(1, 13):
        clock[0] = done
        told(done, 12, 0)
    lines = capsys.readouterr().err.splitlines()
    assert [line.split()[1] for line in lines] == ["1", "6", "11", "12"]
    assert told.done == 12
