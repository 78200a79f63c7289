"""What whole studies cost, by the call."""

import asyncio

import pytest

from bedside.asking import registry
from bedside.papers.meddialbench import costs, study
from bedside.read.surroundings import here
from bedside.run import Run


def test_whole_studies_are_priced_by_the_call(monkeypatch, tmp_path):
    """34,900 prompt tokens of a consultation are those of 29 calls."""
    monkeypatch.setattr(here, "figures", str(tmp_path))
    run = Run("meddialbench", "01_design_and_validation")
    cheap = {"model": "cheap", "provider": "test", "base_url": "http://127.0.0.1:9/v1"}
    cheap |= {"usd_per_million_in": 0.01, "usd_per_million_out": 0.02, "price_date": "2026-11-01"}
    monkeypatch.setitem(registry.entries(), "cheap", registry.as_model("cheap", cheap))
    given = asyncio.run(study.set_up(run))
    of = costs.expected(run, given, 13.66, 60, ["cheap"]).loc["the paper's study"]
    tokens = [of[f"{what} tokens, millions"] for what in ("prompt", "reply")]
    # 85 cases, 17 configurations, five doctors; 2 * 13.66 + 1 statements of 60 tokens
    assert of["consultations"] == 7225 and of["calls"] == round(7225 * (2 * 13.66 + 2))
    assert tokens[1] == pytest.approx(7225 * 60 * 28.32 / 1e6)
    assert of["USD with cheap"] == pytest.approx(tokens[0] * 0.01 + tokens[1] * 0.02)
