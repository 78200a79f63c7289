"""MedHalu: what replies of detectors and generators say, and where a span is in an answer."""

import tomllib
from pathlib import Path

from bedside.papers.medhalu import building, detection, spans

KNOWN = tomllib.loads(Path(__file__).with_name("medhalu_replies.toml").read_text("utf-8"))
ANSWER = "Cold air weakens lungs. Drinking milk (in excess) adds mucus, and antibiotics don't help."


def test_what_a_detection_and_a_written_answer_say():
    for text, said in KNOWN["detections"]:
        expected = (said[0], tuple(said[1])) if said else None
        assert detection.parse_detection(text) == expected, text
    for text, answer in KNOWN["answers"]:
        assert building.written(text) == (answer or None), text


def test_a_span_is_where_its_words_are_whole():
    for span, answer, place in KNOWN["places"]:  # the last such place, unless it is the only one
        answer = answer or ANSWER
        at = answer.rindex(place)
        found = (at, at + len(place), "exact") if place else None
        assert spans.locate(span, answer) == found, span


def test_a_span_that_is_nearly_there_is_aligned_and_a_mark_is_where_it_was_made():
    for span, marked, answer, place in KNOWN["near"]:
        assert spans.locate(span, answer or ANSWER, marked) == (tuple(place) or None), span
    answer = KNOWN["near"][-1][2]
    assert spans.token_scores(answer, ["cortico"], ["Corticosteroids"])["token F1"] == 1
