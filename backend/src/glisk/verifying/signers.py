"""Who has signed the metadata, and is it the same everywhere?"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import msgspec

from glisk.verifying.judging import named_in
from glisk.verifying.verdict import Problem, Verdict


def with_signers(verdicts: Sequence[Verdict], wanted: str | None) -> tuple[list[Verdict], str | None]:
    """Whoever is signed by another than all should be, or than most are, is wrong."""
    signer = wanted or usual_signer(verdicts)
    others = Counter(verdict.signer for verdict in verdicts)[signer]
    than = f"not by {wanted}" if wanted else f"unlike {others:,} other{'s' * (others != 1)}"
    return [
        blamed(verdict, f"it is signed by {verdict.signer}, {than}")
        if verdict.signer not in (None, signer)
        else verdict
        for verdict in verdicts
    ], signer


def blamed(verdict: Verdict, why: str) -> Verdict:
    found = Problem(kind="wrong", what="signature", why=why, cid=named_in(verdict.uri or ""))
    return msgspec.structs.replace(verdict, problems=[*verdict.problems, found])


def usual_signer(verdicts: Sequence[Verdict]) -> str | None:
    """Whom most tokens are signed by; of equals, who comes first."""
    found = Counter(verdict.signer for verdict in verdicts if verdict.signer).most_common(1)
    return found[0][0] if found else None
