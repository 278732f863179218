"""Errors of object stores, as messages that name the bucket and the remedy.

The clients (s3fs on botocore and aiohttp, gcsfs on google-auth and aiohttp, adlfs on azure-storage-blob, others on
requests and httpx) raise classes of their own, which are known here by their names, so that none of them needs to be
installed.
"""

from __future__ import annotations

import errno
from collections.abc import Iterator
from dataclasses import dataclass
from urllib.parse import urlsplit


@dataclass(frozen=True)
class _Store:
    """What users of one kind of store set, type and grant."""

    credentials: str
    rights: str
    endpoint: str
    create: str


_S3 = _Store(
    "run `aws configure`, name a profile by AWS_PROFILE, or set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY",
    "s3:ListBucket, s3:GetObject, s3:PutObject and s3:DeleteObject",
    "AWS_ENDPOINT_URL",
    "aws s3 mb s3://{}",
)
_GCS = _Store(
    "run `gcloud auth application-default login`, or name a key file by GOOGLE_APPLICATION_CREDENTIALS",
    "roles/storage.objectUser",
    "STORAGE_EMULATOR_HOST",
    "gcloud storage buckets create gs://{}",
)
_AZURE = _Store(
    "set AZURE_STORAGE_CONNECTION_STRING, or AZURE_STORAGE_ACCOUNT_NAME and AZURE_STORAGE_ACCOUNT_KEY (without the "
    "key: run `az login`)",
    "the role Storage Blob Data Contributor",
    "the endpoint in AZURE_STORAGE_CONNECTION_STRING",
    "az storage container create --name {}",
)
_STORES = {"s3": _S3, "s3a": _S3, "gs": _GCS, "gcs": _GCS} | dict.fromkeys(("az", "abfs", "abfss"), _AZURE)
_NO_CREDENTIALS = {
    "NoCredentialsError",
    "PartialCredentialsError",
    "CredentialRetrievalError",
    "ProfileNotFound",
    "DefaultCredentialsError",
    "ClientAuthenticationError",
    "CredentialUnavailableError",
}
_NO_ACCOUNT = ("Must provide either a connection_string or account_name",)
"""What adlfs says where it is told no account."""
_NO_CONTAINER = ("The specified container does not exist",)
_EXPIRED = ("ExpiredToken", "token has expired", "Token has expired", "Invalid Credentials")
_ALTERED = {"FlexibleChecksumError", "ChecksumError"}
"""What clients say of bytes that do not have the checksum that their store sends with them."""
_UNREACHABLE = {
    "EndpointConnectionError",
    "ConnectTimeoutError",
    "ConnectionClosedError",
    "ReadTimeoutError",
    "ClientConnectorError",
    "ClientConnectorDNSError",
    "ServerDisconnectedError",
    "ServerTimeoutError",
    "FSTimeoutError",
    "TimeoutError",
    "ConnectionRefusedError",
    "ConnectionResetError",
    "ConnectionError",
    "ConnectTimeout",
    "ReadTimeout",
    "ConnectError",
    "MaxRetryError",
    "NameResolutionError",
    "OfflineModeIsEnabled",
    "gaierror",
}


_NETWORK_ERRORS = {
    errno.ECONNREFUSED,
    errno.ECONNRESET,
    errno.EHOSTUNREACH,
    errno.ENETUNREACH,
    errno.ENETDOWN,
    errno.ETIMEDOUT,
}


def base_url(url: str) -> str:
    """Return where the bytes of a chained URL lie: its last part; any other URL as it is.

    >>> base_url("zip://a.txt::s3://corpora/books.zip"), base_url("s3://corpora/enwiki")
    ('s3://corpora/books.zip', 's3://corpora/enwiki')
    """
    return url.rsplit("::", maxsplit=1)[-1]


def bucket_of(url: str) -> str:
    """Return the bucket of a URL of S3, Google Cloud Storage or Azure; "" of any other.

    >>> bucket_of("s3://corpora/enwiki"), bucket_of("hf://datasets/x")
    ('corpora', '')
    """
    parts = urlsplit(base_url(url))
    return parts.netloc if parts.scheme in _STORES else ""


def store_problem(error: BaseException, url: str) -> str:
    """Return what an error of a file system means for the user of a URL, and what to do.

    >>> store_problem(PermissionError("Access Denied"), "s3://corpora/x").split("; ")[0]
    "access to the bucket 'corpora' is denied (Access Denied)"
    >>> store_problem(ConnectionRefusedError("no route"), "hf://datasets/x").split(";")[0]
    'cannot be reached (ConnectionRefusedError: no route)'
    """
    reason = (str(error).strip() or type(error).__name__).splitlines()[0]
    store = _STORES.get(urlsplit(base_url(url)).scheme)
    kinds = {type(cause).__name__ for cause in _causes(error)}
    if store is not None:
        bucket = repr(bucket_of(url))
        texts = [str(cause) for cause in _causes(error)]
        if kinds & _NO_CREDENTIALS or any(mark in text for text in texts for mark in _NO_ACCOUNT):
            return f"there are no credentials for the bucket {bucket} ({reason}); {store.credentials}"
        if any(mark in text for text in texts for mark in _NO_CONTAINER):
            return no_bucket(url)
        if any(mark in text for text in texts for mark in _EXPIRED) or getattr(error, "code", None) == 401:
            return f"the credentials for the bucket {bucket} are not valid, or not any more ({reason}); " + (
                store.credentials
            )
        if isinstance(error, PermissionError) or reason.startswith("Forbidden") or getattr(error, "code", None) == 403:
            return (
                f"access to the bucket {bucket} is denied ({reason}); the credentials in use need {store.rights} there "
                f"(to read, only what lists and gets), or choose others: {store.credentials}"
            )
        if kinds & _ALTERED:
            return (
                f"has other bytes than the store of the bucket {bucket} says ({reason}): they were altered in the "
                "store, or on the way, as by a proxy; copy it there again from where it was built"
            )
        if kinds & _UNREACHABLE:
            return (
                f"the server of the bucket {bucket} cannot be reached ({reason}); check the network, the proxy if "
                f"there is one, and {store.endpoint} if it is set"
            )
        return (
            f"the store of the bucket {bucket} did not do what it was asked ({type(error).__name__}: {reason}); if it "
            "is not the cloud's own but one that speaks its protocol, see whether it knows this request"
        )
    if kinds & _UNREACHABLE or any(_is_of_the_network(cause) for cause in _causes(error)):
        return (
            f"cannot be reached ({type(error).__name__}: {reason}); check the address, the network and the credentials"
        )
    return f"its file system failed ({type(error).__name__}: {reason}); check the URL, and that this file can be read"


def _is_of_the_network(error: BaseException) -> bool:
    """Tell whether an error says that nothing answered, or not to the end."""
    return isinstance(error, ConnectionError | TimeoutError) or getattr(error, "errno", None) in _NETWORK_ERRORS


def is_not_implemented(error: BaseException) -> bool:
    """Tell whether a store answered that it lacks what a request asks for, as conditional writes (HTTP 501)."""
    for cause in _causes(error):
        answer = getattr(cause, "response", None)
        answer = answer if isinstance(answer, dict) else {}
        status = answer.get("ResponseMetadata", {}).get("HTTPStatusCode") or getattr(cause, "status", None)
        if getattr(cause, "errno", None) == errno.ENOSYS or status == 501:
            return True
        if answer.get("Error", {}).get("Code") == "NotImplemented":
            return True
    return False


def no_bucket(url: str) -> str:
    """Return that there is no bucket of the name in a URL of S3, Google Cloud Storage or Azure, and how one is made.

    >>> no_bucket("gs://corpora/enwiki")
    "there is no bucket 'corpora'; check its name, or make it: gcloud storage buckets create gs://corpora"
    """
    bucket = bucket_of(url)
    create = _STORES[urlsplit(base_url(url)).scheme].create.format(bucket)
    return f"there is no bucket {bucket!r}; check its name, or make it: {create}"


def _causes(error: BaseException) -> Iterator[BaseException]:
    """Yield an error and its causes, each once."""
    seen: set[int] = set()
    cause: BaseException | None = error
    while cause is not None and id(cause) not in seen:
        seen.add(id(cause))
        yield cause
        cause = cause.__cause__ or cause.__context__
