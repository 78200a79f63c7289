"""Parameters of the notebooks that show replies to people: whose they are."""

import parameter_house
import pytest
from parameter_house import OTHERS

from bedside import BedsideError
from judged import kept_in

given = parameter_house.given  # a fixture
house = parameter_house.house  # a fixture


@pytest.fixture
def people(house, monkeypatch):
    """The house with what the sample's notebooks kept, and outside of any run."""
    monkeypatch.delenv("BEDSIDE_RUN")
    kept_in(house.figures)
    return house


@pytest.mark.parametrize(
    "name, parameter",
    [
        *(("explore_failures", p) for p in ("profile", *OTHERS)),
        *((n, p) for n in ("annotate", "agreement") for p in ("profile", *OTHERS) if p != "seed"),
    ],
)
def test_whose_replies_people_see(people, given, name, parameter):
    """Those that the notebooks kept with these settings, which are another run's folder."""
    more = given(name, {parameter: OTHERS.get(parameter, "public")})
    where = "public" if parameter == "profile" else "runs/sample-"
    with pytest.raises(BedsideError, match=f"/{where}[^ ]* has no graded replies; run `make"):
        people.run(name, until="collect(", **more)
