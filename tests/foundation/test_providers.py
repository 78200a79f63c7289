"""Shipped entries against what their providers document: first calls, and whole notebooks."""

import asyncio
import csv
import json
import re
import tomllib

import pytest

import matrix
import providers
from bedside.asking import registry
from bedside.build import notebooks
from bedside.own import try_out
from bedside.read import paths
from bedside.read.surroundings import here
from bedside.write import plots
from conftest import apart

PROVIDERS = {  # by base_url, where it settles them
    "https://api.openai.com/v1": "openai-reasoning",
    "https://api.anthropic.com/v1": "anthropic",
    "https://api.mistral.ai/v1": "mistral",
    "http://127.0.0.1:8000/v1": "vllm-opened",
}
SHIPPED = tomllib.loads((paths.DATA / "models.toml").read_text())
CALLED = [n for n, m in SHIPPED.items() if m["provider"] != "local" and "retired" not in m]


def persona_of(entry):
    """The persona that behaves as an entry's endpoint; of its provider's, the one with its name."""
    mine = [n for n in providers.PERSONAS if n.partition("-")[0] == entry["provider"]]
    fits = (n for n in mine if re.match(f"({providers.PERSONAS[n]['names']})", entry["model"]))
    return "vllm-opened" if "think" in entry else next(fits)


@pytest.fixture
def provider(tmp_path, monkeypatch):
    monkeypatch.setattr(here, "ledger", str(tmp_path))
    monkeypatch.setenv("AZURE_OPENAI_RESOURCE", "of-a-test")
    for entry in SHIPPED.values():
        if variable := entry.get("api_key_env"):
            monkeypatch.setenv(variable, providers.KEY)
    with providers.Providers() as provider:
        yield provider


def tried(name, entry, monkeypatch):
    """(whether an entry is ready, the lines that it lacks, all that is told)."""
    monkeypatch.setitem(registry.entries(), name, registry.as_model(name, entry))
    told = []
    ready = asyncio.run(try_out.tried(name, told.append))
    _, _, after = "\n".join(told).partition("in data/models.toml:\n")
    return ready, tomllib.loads("\n".join(re.findall(r"^ {4}(.*)$", after, re.M))), "\n".join(told)


@pytest.mark.parametrize("name", CALLED)
def test_a_shipped_entry_is_ready(name, provider, monkeypatch):
    entry = {**SHIPPED[name], "base_url": provider.at(persona_of(SHIPPED[name]))}
    ready, lines, told = tried(name, entry, monkeypatch)
    assert ready and not lines, told
    assert {e.kind for e in provider.log} == {""} and len(provider.log) <= try_out.MOST
    assert told.splitlines()[-1].startswith("  ready")


@pytest.mark.parametrize(
    "persona, model, lacks",
    [
        ("openai-reasoning", "gpt-6", "max_tokens_name omit reasoning_tokens"),
        ("anthropic", "claude-opus-5", "omit reasoning_tokens"),
        ("google", "gemini-3", "omit reasoning_tokens"),
        ("deepseek", "deepseek-flash", "response_format reasoning_tokens"),
        ("mistral", "mistral-medium", ""),
        ("vllm-thinking", "any", "reasoning_tokens"),
        ("vllm-opened", "any", "think reasoning_tokens"),
        ("ollama", "any:8b", ""),
        ("vllm-gemma", "any", "system"),
    ],
)
def test_what_a_bare_entry_lacks_is_told(persona, model, lacks, provider, monkeypatch):
    """With the lines that it is told to add, in a few rounds, it is ready."""
    entry = {"provider": "mine", "base_url": provider.at(persona), "model": model}
    if providers.PERSONAS[persona].get("key", True):
        entry["api_key_env"] = "OPENAI_API_KEY"
    for _ in range(4):
        before = len(provider.log)
        ready, lines, told = tried("mine", entry, monkeypatch)
        assert len(provider.log) - before <= try_out.MOST
        assert ready or lines, told
        entry |= lines
    assert ready, told
    assert entry.keys() - {"provider", "base_url", "model", "api_key_env"} == set(lacks.split())


def test_a_retired_entry_names_what_to_use_instead(provider, monkeypatch):
    for name in (n for n, m in SHIPPED.items() if "retired" in m):
        entry = {**SHIPPED[name], "base_url": provider.at(persona_of(SHIPPED[name]))}
        ready, _, told = tried(name, entry, monkeypatch)
        assert not ready and not provider.log and entry["retired"] in told
        assert entry["instead"] in told and entry["instead"] in CALLED


# a model that reasons, one that is asked for JSON in words, one with content in parts, one whose
# thoughts stand in the text
KINDS = "gpt-6.2-sol claude-opus-5-5 mistral-medium-3-5-thinking vllm-qwen3.8-27b"
NOTEBOOKS = (
    "meddialbench/01_design_and_validation",
    "meddialbench/02_baseline",
    "medhalu/02_detection",
)


def test_each_kind_runs_through_notebooks(provider, tmp_path, monkeypatch):
    """Verdicts and dialogues of each, with one as judge."""
    apart(monkeypatch, tmp_path)
    monkeypatch.setattr(plots, "save", matrix.undrawn)
    matrix.copied(paths.FIGURES / "sample", tmp_path / "figures/sample", "trust_*.json")
    for name in KINDS.split():
        entry = {**SHIPPED[name], "base_url": provider.at(PROVIDERS[SHIPPED[name]["base_url"]])}
        monkeypatch.setitem(registry.entries(), name, registry.as_model(name, entry))
    given = {"mode": "record", "models": KINDS, "judge": "claude-opus-5-5", "limit": "1"}
    for name in NOTEBOOKS:
        asyncio.run(matrix.execute(name, notebooks.typed(name, given)))
    assert {e.kind for e in provider.log} == {""}
    assert {e.persona for e in provider.log} == {*PROVIDERS.values()}
    files = (tmp_path / "recordings").rglob("*.jsonl")
    kept = [json.loads(line) for path in files for line in path.read_bytes().splitlines()]
    assert sorted(r["fields"]["messages"] for r in kept) == sorted(e.messages for e in provider.log)
    for path in (tmp_path / "figures/sample").rglob("*.csv"):
        rows = list(csv.DictReader(path.read_text().splitlines()))
        assert not any(row.get("unscored") not in (None, "", "0") for row in rows), path
        assert "thought effect" not in path.read_text()
