"""Every way Glisk can fail: a code, a sentence and a remedy each.

GliskError
├── SetupError                      the operator's machine or settings
│   ├── BadSettings                 GLK-101
│   ├── PortTaken                   GLK-102
│   ├── AlreadyRunning              GLK-103
│   ├── DataUnwritable              GLK-104
│   ├── WouldDestroyPaidWork        GLK-105
│   ├── UnusableAddress             GLK-106
│   └── NotOurData                  GLK-107
├── ChainError                      following a contract
│   ├── RpcUnreachable              GLK-201
│   ├── WrongChain                  GLK-202
│   ├── NotFollowable               GLK-203
│   ├── StartUnknown                GLK-204
│   ├── DeepReorg                   GLK-205
│   ├── MintsMissing                GLK-206
│   ├── NotFollowed                 GLK-207
│   ├── EmbeddedChainFailed         GLK-208
│   ├── RpcBehind                   GLK-209
│   └── GhostTokens                 GLK-210
├── GenerationError                 drawing an image
│   ├── BadImageUrl                 GLK-301
│   └── ProviderError               whoever draws it
│       ├── Refused                 GLK-302
│       ├── ProviderFailed          GLK-303
│       ├── RateLimited             GLK-304
│       ├── NotAllowed              GLK-305
│       ├── BadOrder                GLK-306
│       ├── Uncertain               GLK-307
│       ├── OrderGone               GLK-308
│       └── NotArrived              GLK-309
├── StorageError                    where images are kept
│   ├── StorageDown                 GLK-401
│   ├── StorageUnusable             only a person can mend it
│   │   ├── StorageFull             GLK-402
│   │   ├── StorageForbidden        GLK-403
│   │   ├── BucketMissing           GLK-404
│   │   └── StorageRefused          GLK-405
│   ├── ObjectDamaged               GLK-406
│   ├── ObjectMissing               GLK-407
│   └── BadObjectKey                GLK-408
├── PinError                        keeping what was drawn on IPFS
│   ├── PinForbidden                GLK-501
│   ├── PinLimited                  GLK-502
│   ├── PinDown                     GLK-503
│   ├── WrongCid                    GLK-504
│   ├── PinRefused                  GLK-505
│   ├── BadCid                      GLK-506
│   └── NotHere                     GLK-507
├── RevealError                     telling the chain
│   ├── KeyUnusable                 GLK-511
│   ├── NotTheKeeper                GLK-512
│   ├── BalanceTooLow               GLK-513
│   ├── FeeTooHigh                  GLK-514
│   └── NonceMissing                GLK-515
├── EngineError                     the work itself
│   ├── LeaseLost                   GLK-601
│   ├── WrongStatus                 GLK-602
│   ├── UnknownWorkflow             GLK-603
│   ├── UnknownParent               GLK-604
│   ├── TooManyJobs                 GLK-605
│   ├── UnknownActiveState          GLK-606
│   ├── TwoProcessors               GLK-607
│   ├── BadOptions                  GLK-608
│   ├── BadJob                      GLK-609
│   └── BadProcessor                GLK-610
└── DatabaseError                   PostgreSQL and its schema
    ├── DatabaseUnreachable         GLK-701
    ├── DatabaseTooOld              GLK-702
    ├── SchemaBehind                GLK-703
    ├── SchemaAhead                 GLK-704
    ├── MigrationFailed             GLK-705
    ├── EmbeddedPostgresFailed      GLK-706
    ├── EmbeddedPostgresOtherVersion  GLK-707
    └── UnknownRevision             GLK-708
"""

from __future__ import annotations

from collections.abc import Iterator

from glisk.errors.base import GliskError
from glisk.errors.chain import (
    ChainError,
    DeepReorg,
    EmbeddedChainFailed,
    GhostTokens,
    MintsMissing,
    NotFollowable,
    NotFollowed,
    RpcBehind,
    RpcUnreachable,
    StartUnknown,
    WrongChain,
)
from glisk.errors.database import (
    DatabaseError,
    DatabaseTooOld,
    DatabaseUnreachable,
    EmbeddedPostgresFailed,
    EmbeddedPostgresOtherVersion,
    MigrationFailed,
    SchemaAhead,
    SchemaBehind,
    UnknownRevision,
)
from glisk.errors.engine import (
    BadJob,
    BadOptions,
    BadProcessor,
    EngineError,
    LeaseLost,
    TooManyJobs,
    TwoProcessors,
    UnknownActiveState,
    UnknownParent,
    UnknownWorkflow,
    WrongStatus,
)
from glisk.errors.generation import (
    BadImageUrl,
    BadOrder,
    GenerationError,
    NotAllowed,
    NotArrived,
    OrderGone,
    ProviderError,
    ProviderFailed,
    RateLimited,
    Refused,
    Uncertain,
)
from glisk.errors.publishing import (
    BadCid,
    BalanceTooLow,
    FeeTooHigh,
    KeyUnusable,
    NonceMissing,
    NotHere,
    NotTheKeeper,
    PinDown,
    PinError,
    PinForbidden,
    PinLimited,
    PinRefused,
    RevealError,
    WrongCid,
)
from glisk.errors.setup import (
    AlreadyRunning,
    BadSettings,
    DataUnwritable,
    NotOurData,
    PortTaken,
    Problem,
    SetupError,
    UnusableAddress,
    WouldDestroyPaidWork,
)
from glisk.errors.storage import (
    BadObjectKey,
    BucketMissing,
    ObjectDamaged,
    ObjectMissing,
    StorageDown,
    StorageError,
    StorageForbidden,
    StorageFull,
    StorageRefused,
    StorageUnusable,
)

__all__ = [
    "AlreadyRunning",
    "BadCid",
    "BadImageUrl",
    "BadJob",
    "BadObjectKey",
    "BadOptions",
    "BadOrder",
    "BadProcessor",
    "BadSettings",
    "BalanceTooLow",
    "BucketMissing",
    "ChainError",
    "DataUnwritable",
    "DatabaseError",
    "DatabaseTooOld",
    "DatabaseUnreachable",
    "DeepReorg",
    "EmbeddedChainFailed",
    "EmbeddedPostgresFailed",
    "EmbeddedPostgresOtherVersion",
    "EngineError",
    "FeeTooHigh",
    "GenerationError",
    "GhostTokens",
    "GliskError",
    "KeyUnusable",
    "LeaseLost",
    "MigrationFailed",
    "MintsMissing",
    "NonceMissing",
    "NotAllowed",
    "NotArrived",
    "NotFollowable",
    "NotFollowed",
    "NotHere",
    "NotOurData",
    "NotTheKeeper",
    "ObjectDamaged",
    "ObjectMissing",
    "OrderGone",
    "PinDown",
    "PinError",
    "PinForbidden",
    "PinLimited",
    "PinRefused",
    "PortTaken",
    "Problem",
    "ProviderError",
    "ProviderFailed",
    "RateLimited",
    "Refused",
    "RevealError",
    "RpcBehind",
    "RpcUnreachable",
    "SchemaAhead",
    "SchemaBehind",
    "SetupError",
    "StartUnknown",
    "StorageDown",
    "StorageError",
    "StorageForbidden",
    "StorageFull",
    "StorageRefused",
    "StorageUnusable",
    "TooManyJobs",
    "TwoProcessors",
    "Uncertain",
    "UnknownActiveState",
    "UnknownParent",
    "UnknownRevision",
    "UnknownWorkflow",
    "UnusableAddress",
    "WouldDestroyPaidWork",
    "WrongChain",
    "WrongCid",
    "WrongStatus",
    "catalogue",
    "leaves",
]


def catalogue() -> dict[str, type[GliskError]]:
    """Every leaf by its code, in order."""
    return {leaf.code: leaf for leaf in sorted(leaves(GliskError), key=lambda leaf: leaf.code)}


def leaves(root: type[GliskError]) -> Iterator[type[GliskError]]:
    branches = root.__subclasses__()
    if not branches:
        yield root
    for branch in branches:
        yield from leaves(branch)
