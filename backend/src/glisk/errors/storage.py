"""Something about where images are kept."""

from __future__ import annotations

from glisk.errors.base import GliskError


class StorageError(GliskError):
    """Something about where images are kept."""


class StorageUnusable(StorageError):
    """Asking again does not help until a person has mended the cause."""


class StorageDown(StorageError):
    """It may pass: the only one here that is worth asking again."""

    code = "GLK-401"
    summary = "The storage of images does not answer."
    remedy = "Nothing to do: it is asked again. If it lasts, check that it runs and is the one in GLISK_S3_ENDPOINT."


class StorageFull(StorageUnusable):
    code = "GLK-402"
    summary = "The storage of images has no room left."
    remedy = "Free some space where GLISK_DATA_DIR is (or in the bucket), or keep images in S3: GLISK_S3_BUCKET=…"


class StorageForbidden(StorageUnusable):
    code = "GLK-403"
    summary = "The storage of images does not let us in."
    remedy = "A directory: run Glisk as its owner. S3: check both GLISK_S3_… keys; they must be allowed to get, put and list objects."


class BucketMissing(StorageUnusable):
    code = "GLK-404"
    summary = "The bucket for images does not exist."
    remedy = "Create it, or correct GLISK_S3_BUCKET and GLISK_S3_ENDPOINT."


class StorageRefused(StorageUnusable):
    code = "GLK-405"
    summary = "The storage of images cannot use what we ask it."
    remedy = "Check GLISK_S3_ENDPOINT and GLISK_S3_REGION; for a directory, that nothing else stands where images go."


class ObjectDamaged(StorageError):
    code = "GLK-406"
    summary = "What is stored is not what was put there."
    remedy = "Bring it back from a backup, or have it put again: that mends it."


class ObjectMissing(StorageError):
    code = "GLK-407"
    summary = "There is no such object."
    remedy = "Check the address; an object that was deleted does not come back."


class BadObjectKey(StorageError):
    code = "GLK-408"
    summary = "This cannot be the key of an object."
    remedy = "Keys look like sha256/ab/abcd….webp; take them from whoever stored the object."
