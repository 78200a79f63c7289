"""What is committed depends on committed files alone, whatever a user adds to data/models.toml."""

from bedside.asking import registry
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


def test_a_users_entries_change_no_table_that_holds_prices(tmp_path, monkeypatch):
    monkeypatch.setattr(plots, "save", undrawn)
    house = House(monkeypatch, tmp_path)
    house.run(PRICING, limit=1)
    before = house.outputs()
    for key, entry in INVENTED.items():
        monkeypatch.setitem(registry.entries(), key, registry.as_model(key, entry))
    house.to("again")
    house.run(PRICING, limit=1)
    assert house.outputs() == before and any(file.endswith(".csv") for file in before)
