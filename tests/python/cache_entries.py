# SPDX-License-Identifier: BSD-3-Clause
"""Files of the cache folder as Rafter writes them, for tests that change what is in them (rafter/device/host/cache_entry.cpp)."""
import ctypes


class _Hash128(ctypes.Structure):
    _fields_ = [("low", ctypes.c_uint64), ("high", ctypes.c_uint64)]


def content_hash(content):
    """XXH3 of 128 bits, as 32 digits."""
    library = ctypes.CDLL("libxxhash.so.0")
    library.XXH3_128bits.restype = _Hash128
    found = library.XXH3_128bits(content, ctypes.c_size_t(len(content)))
    return f"{found.high:016x}{found.low:016x}"


def cache_entry(kind, key, content):
    """The bytes of an entry of the cache: its content, and a hash of its kind, key and content."""
    parts = f"{len(kind)}:{kind}{len(key)}:{key}{content_hash(content)}"
    return content + f"\nrafter entry {content_hash(parts.encode())}\n".encode()


def entry_content(entry):
    """What is in an entry of the cache."""
    return entry[:entry.rindex(b"\nrafter entry ")]
