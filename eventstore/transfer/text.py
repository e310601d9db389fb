"""JSON texts that the log accepted once: the canonical form without the limits on what people hand in.

A line of an export nests deeper and may be longer than one value. The rules on values hold nevertheless,
because whoever reads a line compares it with its canonical form: equal keys, other spellings of a number and
spaces do not come back as they went in.
"""

import json
from typing import Never, cast

from runwright.eventstore.values import Json


def _refuse(name: str) -> Never:
    raise ValueError(f"JSON has no {name}")


_decoder = json.JSONDecoder(parse_constant=_refuse)
_encoder = json.JSONEncoder(
    ensure_ascii=False, allow_nan=False, check_circular=False, sort_keys=True, separators=(",", ":")
)


def read_text(text: str) -> Json:
    """Read one JSON text.

    Raises:
        ValueError: It is not JSON, or its numbers or its depth are beyond what Python reads.
    """
    try:
        return cast(Json, _decoder.decode(text))
    except RecursionError:
        raise ValueError("nested too deeply") from None


def write_text(value: Json) -> str:
    """Write the canonical text of a value that was read.

    Raises:
        ValueError: It holds an infinite number, which `read_text` makes of a too large one.
    """
    return _encoder.encode(value)
