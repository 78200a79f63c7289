"""What is committed depends on committed files alone, whatever a user adds to data/models.toml."""

import pytest

from bedside.asking import registry
from bedside.build import notebooks
from bedside.write import plots
from matrix import House, undrawn

AT = {"provider": "test", "base_url": "http://127.0.0.1:9/v1", "model": "m"}
INVENTED = {
    "a-free-one": AT | {"usd_per_million_in": 0, "usd_per_million_out": 0},
    "a-dear-one": AT | {"usd_per_million_in": 900, "usd_per_million_out": 900},
    "GPT-4o": {"provider": "local", "model": "named like a released one"},
    "rules": {"provider": "local", "model": "named like what answers without a model"},
}
PRICING = "meddialbench/01_design_and_validation"  # the one whose tables hold prices of entries


@pytest.mark.parametrize(
    "name", [pytest.param(n, marks=[pytest.mark.slow] * (n != PRICING)) for n in notebooks.listed()]
)
def test_a_users_entries_change_no_output_of_a_notebook(name, tmp_path, monkeypatch):
    monkeypatch.setattr(plots, "save", undrawn)
    house = House(monkeypatch, tmp_path)
    house.run(name)
    before = house.outputs()
    for key, entry in INVENTED.items():
        monkeypatch.setitem(registry.entries(), key, registry.as_model(key, entry))
    house.to("again")
    house.run(name)
    assert house.outputs() == before
    if name != "cancer_myth/07_released_answers":  # which has tables with the released file alone
        assert any(file.endswith(".csv") for file in before)
