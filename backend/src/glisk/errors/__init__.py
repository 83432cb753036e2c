"""Every way Glisk can fail: a code, a sentence and a remedy each.

GliskError
├── SetupError                      the operator's machine or settings
│   ├── BadSettings                 GLK-101
│   ├── PortTaken                   GLK-102
│   ├── AlreadyRunning              GLK-103
│   ├── DataUnwritable              GLK-104
│   ├── WouldDestroyPaidWork        GLK-105
│   ├── UnusableAddress             GLK-106
│   ├── NotOurData                  GLK-107
│   ├── OpenToTheWorld              GLK-108
│   ├── DiskFull                    GLK-109
│   ├── BackupUnusable              GLK-110
│   └── NotEmpty                    GLK-111
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
│   ├── EditUnusable                GLK-311
│   └── ProviderError               whoever draws it
│       ├── Refused                 GLK-302
│       ├── ProviderFailed          GLK-303
│       ├── RateLimited             GLK-304
│       ├── NotAllowed              GLK-305
│       ├── BadOrder                GLK-306
│       ├── Uncertain               GLK-307
│       ├── OrderGone               GLK-308
│       ├── NotArrived              GLK-309
│       └── OutcomeUnknown          GLK-310
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
├── DatabaseError                   PostgreSQL and its schema
│   ├── DatabaseUnreachable         GLK-701
│   ├── DatabaseTooOld              GLK-702
│   ├── SchemaBehind                GLK-703
│   ├── SchemaAhead                 GLK-704
│   ├── MigrationFailed             GLK-705
│   ├── EmbeddedPostgresFailed      GLK-706
│   ├── EmbeddedPostgresOtherVersion  GLK-707
│   ├── UnknownRevision             GLK-708
│   └── RoleMissing                 GLK-709
├── RequestError                    what is asked over HTTP
│   ├── KeyWanted                   GLK-801
│   ├── KeyRefused                  GLK-802
│   ├── CrossSite                   GLK-803
│   ├── StrangeHost                 GLK-804
│   ├── TokenMissing                GLK-805
│   ├── BadQuery                    GLK-806
│   ├── PageMissing                 GLK-807
│   ├── BodyTooLarge                GLK-808
│   ├── StreamsFull                 GLK-809
│   ├── PromptHidden                GLK-810
│   ├── PromptUnusable              GLK-811
│   ├── SignatureWrong              GLK-812
│   ├── SignatureLate               GLK-813
│   ├── NonceUsed                   GLK-814
│   ├── KeyNameTaken                GLK-815
│   ├── UserKeyWanted               GLK-816
│   ├── TooOften                    GLK-817
│   ├── NotTheirs                   GLK-818
│   ├── JobMissing                  GLK-819
│   ├── FileMissing                 GLK-820
│   ├── ProjectMissing              GLK-821
│   ├── ConversationMissing         GLK-822
│   ├── KeyReused                   GLK-823
│   ├── WrongMoment                 GLK-824
│   ├── ResultLost                  GLK-825
│   ├── OpenJobsFull                GLK-826
│   ├── PreviewsSpent               GLK-827
│   ├── ConversationTaken           GLK-828
│   └── UserMissing                 GLK-829
└── FetchError                      what somebody's URL names
    ├── UrlUnusable                 GLK-901
    ├── UrlForbidden                GLK-902
    ├── FetchedTooLarge             GLK-903
    ├── FetchedTooSlow              GLK-904
    ├── FetchedWrongType            GLK-905
    ├── NotFetched                  GLK-906
    └── RedirectedTooOften          GLK-907
"""

from __future__ import annotations

from collections.abc import Iterator

from glisk.errors.access import (
    BadQuery,
    BodyTooLarge,
    ConversationMissing,
    ConversationTaken,
    CrossSite,
    FileMissing,
    JobMissing,
    KeyNameTaken,
    KeyRefused,
    KeyReused,
    KeyWanted,
    NonceUsed,
    NotTheirs,
    OpenJobsFull,
    PageMissing,
    PreviewsSpent,
    ProjectMissing,
    PromptHidden,
    PromptUnusable,
    RequestError,
    ResultLost,
    SignatureLate,
    SignatureWrong,
    StrangeHost,
    StreamsFull,
    TokenMissing,
    TooOften,
    UserKeyWanted,
    UserMissing,
    WrongMoment,
)
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
    RoleMissing,
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
from glisk.errors.fetching import (
    FetchedTooLarge,
    FetchedTooSlow,
    FetchedWrongType,
    FetchError,
    NotFetched,
    RedirectedTooOften,
    UrlForbidden,
    UrlUnusable,
)
from glisk.errors.generation import (
    BadImageUrl,
    BadOrder,
    EditUnusable,
    GenerationError,
    NotAllowed,
    NotArrived,
    OrderGone,
    OutcomeUnknown,
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
    BackupUnusable,
    BadSettings,
    DataUnwritable,
    DiskFull,
    NotEmpty,
    NotOurData,
    OpenToTheWorld,
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
    "BackupUnusable",
    "BadCid",
    "BadImageUrl",
    "BadJob",
    "BadObjectKey",
    "BadOptions",
    "BadOrder",
    "BadProcessor",
    "BadQuery",
    "BadSettings",
    "BalanceTooLow",
    "BodyTooLarge",
    "BucketMissing",
    "ChainError",
    "ConversationMissing",
    "ConversationTaken",
    "CrossSite",
    "DataUnwritable",
    "DatabaseError",
    "DatabaseTooOld",
    "DatabaseUnreachable",
    "DeepReorg",
    "DiskFull",
    "EditUnusable",
    "EmbeddedChainFailed",
    "EmbeddedPostgresFailed",
    "EmbeddedPostgresOtherVersion",
    "EngineError",
    "FeeTooHigh",
    "FetchError",
    "FetchedTooLarge",
    "FetchedTooSlow",
    "FetchedWrongType",
    "FileMissing",
    "GenerationError",
    "GhostTokens",
    "GliskError",
    "JobMissing",
    "KeyNameTaken",
    "KeyRefused",
    "KeyReused",
    "KeyUnusable",
    "KeyWanted",
    "LeaseLost",
    "MigrationFailed",
    "MintsMissing",
    "NonceMissing",
    "NonceUsed",
    "NotAllowed",
    "NotArrived",
    "NotEmpty",
    "NotFetched",
    "NotFollowable",
    "NotFollowed",
    "NotHere",
    "NotOurData",
    "NotTheKeeper",
    "NotTheirs",
    "ObjectDamaged",
    "ObjectMissing",
    "OpenJobsFull",
    "OpenToTheWorld",
    "OrderGone",
    "OutcomeUnknown",
    "PageMissing",
    "PinDown",
    "PinError",
    "PinForbidden",
    "PinLimited",
    "PinRefused",
    "PortTaken",
    "PreviewsSpent",
    "Problem",
    "ProjectMissing",
    "PromptHidden",
    "PromptUnusable",
    "ProviderError",
    "ProviderFailed",
    "RateLimited",
    "RedirectedTooOften",
    "Refused",
    "RequestError",
    "ResultLost",
    "RevealError",
    "RoleMissing",
    "RpcBehind",
    "RpcUnreachable",
    "SchemaAhead",
    "SchemaBehind",
    "SetupError",
    "SignatureLate",
    "SignatureWrong",
    "StartUnknown",
    "StorageDown",
    "StorageError",
    "StorageForbidden",
    "StorageFull",
    "StorageRefused",
    "StorageUnusable",
    "StrangeHost",
    "StreamsFull",
    "TokenMissing",
    "TooManyJobs",
    "TooOften",
    "TwoProcessors",
    "Uncertain",
    "UnknownActiveState",
    "UnknownParent",
    "UnknownRevision",
    "UnknownWorkflow",
    "UnusableAddress",
    "UrlForbidden",
    "UrlUnusable",
    "UserKeyWanted",
    "UserMissing",
    "WouldDestroyPaidWork",
    "WrongChain",
    "WrongCid",
    "WrongMoment",
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
