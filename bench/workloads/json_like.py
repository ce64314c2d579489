"""Library code as it is: the json package without its C helpers, encoding and decoding a document, 60 times at scale 1."""
import json
from json import decoder, encoder, scanner

from measure import measure


def rows(count):
    for number in range(count):
        yield {"id": number, "name": "row %d" % number, "tags": ["first", "two\nlines", "caf\u00e9"], "v": number * 0.5,
               "nested": {"x": [1, 2, [3, {"y": None}]], "ok": number % 2 == 0}}


def main(scale):
    encoder.c_make_encoder = None
    encoder.encode_basestring_ascii = encoder.py_encode_basestring_ascii
    reader = json.JSONDecoder()
    reader.parse_string = decoder.py_scanstring
    reader.scan_once = scanner.py_make_scanner(reader)
    writer = json.JSONEncoder()
    document = {"title": "bench", "rows": list(rows(250))}
    for _ in range(max(1, round(60 * scale))):
        assert reader.decode(writer.encode(document)) == document


if __name__ == "__main__":
    measure(main)
