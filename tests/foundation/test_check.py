"""Printed numbers of any paper: the file, what each check says, the page and the command."""

import csv
import re

import pandas as pd
import pytest

import bedside
from bedside import BedsideError, checking
from bedside import __main__ as steps
from bedside.build import notebooks
from bedside.read import paths

COLUMNS = "table,row,column,value,n,kind,of,note"
EXAMPLES = paths.DATA / "sample/check"


def found(*lines):
    """What the checks say of these lines of a CSV."""
    rows = list(csv.DictReader([COLUMNS, *lines]))
    return bedside.check(pd.DataFrame(rows).fillna(""))


def last(*lines):
    """The check of the last of these lines."""
    made = found(*lines)
    return made[made["place"].str.contains(f"row {len(lines)}")].iloc[0]


TWO = ["T,A,right,75.0%,40,share,,", "T,B,right,60.0%,40,share,,"]
COUNTED = ["T,a,agree,97.7%,980,share,,", "T,one,yes,163,980,count,,", "T,two,yes,157,980,count,,"]
RATERS = ["T,both,agree,85%,40,share,,", "T,one,yes,40%,40,share,,", "T,two,yes,45%,40,share,,"]
GRADE = "T,A,grade,3.65,40,mean,scale=1 to 5,"


@pytest.mark.parametrize(
    "lines, verdict, only_if, fits",
    [
        # 33 / 48 = 68.75%, 34 / 48 = 70.83%
        (["T,A,right,70.1%,48,share,,"], "impossible", "", "68.8%, 70.8%"),
        (["T,A,right,70.8%,48,share,,"], "possible", "", "70.8%"),
        # 38 / 48 is 79.17%, and 79.1 only if that was cut off
        (["T,A,right,79.1%,48,share,,"], "only if", "digits were cut off", "79.2%"),
        # 7 of 10 and no share of 48, and the table has an n of 10
        (["T,B,x,4,10,count,,", "T,A,right,70.0%,48,share,,"], "only if", "its n is 10", "70.8%"),
        (["T,A,right,0.7,48,share,,"], "possible", "", "0.7"),
        (["T,A,right,0.9,200,share,,", "T,B,right,101%,200,share,,"], "impossible", "", "100%"),
        (["T,A,right,70.1%,,share,,"], "not testable", "n is not given", ""),
        (["T,A,women,12,40,count,,"], "possible", "", "12"),
        (["T,A,women,41,40,count,,"], "impossible", "", "40"),
        (["T,A,women,12.5,40,count,,"], "only if", "mean of several counts", "12"),
        (['T,A,women,"1,203",4000,count,,'], "possible", "", "1203"),
        (
            ["T,A,x,12,,count,,", "T,B,x,13,,count,,", "T,all,x,25,,total,A; B,"],
            "possible",
            "",
            "25",
        ),
        (["T,A,x,12,,count,,", "T,B,x,13,,count,,", "T,all,x,26,,total,,"], "impossible", "", "25"),
        # the parts add up to 99.85 to 100.15, then to 100.85 to 101.15
        (
            [
                "T,A,x,33.3%,,share,,",
                "T,B,x,33.3%,,share,,",
                "T,C,x,33.4%,,share,,",
                "T,all,x,100%,,total,,",
            ],
            "possible",
            "",
            "100%",
        ),
        (
            [
                "T,A,x,33.3%,,share,,",
                "T,B,x,34.3%,,share,,",
                "T,C,x,33.4%,,share,,",
                "T,all,x,100%,,total,,",
            ],
            "impossible",
            "",
            "101%",
        ),
        # 1 of 3 and 2 of 3
        (
            ["T,A,x,33%,3,share,,", "T,B,x,67%,3,share,,", "T,all,x,100%,,total,,"],
            "possible",
            "",
            "100%",
        ),
        ([*TWO, "T,A-B,right,15.0,,difference,A; B,"], "possible", "", "15.0"),
        (
            [*TWO, "T,A-B,right,−15.0,,difference,A; B,"],
            "only if",
            "second minus the first",
            "15.0",
        ),
        ([*TWO, "T,A-B,right,25.0,,difference,A; B,"], "only if", "relative to the second", "15.0"),
        (
            ["T,A,x,75%,,share,,", "T,B,x,60%,,share,,", "T,d,x,15.8,,difference,A; B,"],
            "possible",
            "",
            "15.0",
        ),
        ([*TWO, "T,A-B,right,15.2,,difference,A; B,"], "impossible", "", "15.0"),
        ([*TWO, "T,A/B,times,1.25,,ratio,A | right; B | right,"], "possible", "", "1.25"),
        (
            [*TWO, "T,A/B,times,0.80,,ratio,A | right; B | right,"],
            "only if",
            "second over the first",
            "1.25",
        ),
        ([*TWO, "T,A/B,times,2.00,,ratio,A | right; B | right,"], "only if", "odds ratio", "1.25"),
        ([*TWO, "T,A/B,times,1.30,,ratio,A | right; B | right,"], "impossible", "", "1.25"),
        ([*TWO, "T,mean,right,67.5%,,mean of rows,,"], "possible", "", "67.5%"),
        ([*TWO, "T,mean,right,66.5%,,mean of rows,,"], "impossible", "", "67.5%"),
        (
            ["T,A,g,3.0,10,mean,,", "T,B,g,4.0,30,mean,,", "T,m,g,3.75,,mean of rows,,"],
            "only if",
            "weighted by their n",
            "3.50",
        ),
        ([GRADE], "possible", "", "3.65"),
        # 146 / 40 = 3.65, 147 / 40 = 3.675; grades in halves have 293 / 80 = 3.6625
        (["T,A,grade,3.66,40,mean,scale=1 to 5,"], "only if", "a mean of 2", "3.65, 3.67"),
        (["T,A,grade,3.69,40,mean,scale=1 to 5,"], "only if", "a mean of 2", "3.67, 3.70"),
        (["T,A,grade,3.611,20,mean,scale=1 to 5,"], "impossible", "", "3.600, 3.650"),
        (["T,A,grade,5.10,40,mean,scale=1 to 5,"], "impossible", "", "5.00"),
        ([GRADE, "T,A,SD,1.10,40,sd,grade,"], "possible", "", "1.10"),
        ([GRADE, "T,A,SD,2.40,40,sd,grade,"], "impossible", "", ""),
        (["T,A,SD,2.40,40,sd,,"], "not testable", "the mean are needed", ""),
        (["T,A,p,0.02,,p,test=t; statistic=2.41; df=39,"], "possible", "", "0.02"),
        (["T,A,p,0.01,,p,test=t; statistic=2.41; df=39,"], "only if", "one-sided", "0.02"),
        (["T,A,p,0.05,,p,test=t; statistic=2.41; df=39,"], "impossible", "", "0.02"),
        (["T,A,p,<.05,,p,test=t; statistic=2.41; df=39,"], "possible", "", ""),
        (["T,A,p,0.10,,p,test=t; statistic=2.41; df=39; comparisons=5,"], "possible", "", ""),
        (["T,A,p,<0.001,,p,test=chi2; statistic=3.84; df=1,"], "impossible", "", ""),
        (["T,A,p,0.05,,p,test=t; statistic=2.41,"], "not testable", "1 degrees", ""),
        (["T,A,p,4e-3,,p,test=z; statistic=2.88,"], "possible", "", ""),
        (["T,A,p,4e-4,,p,test=z; statistic=2.88,"], "impossible", "", ""),
        ([*TWO, "T,A-B,p,0.15,,p,test=two shares; A | right; B | right,"], "possible", "", ""),
        (
            [*TWO, "T,A-B,p,0.08,,p,test=two shares; A | right; B | right,"],
            "only if",
            "one-sided",
            "",
        ),
        ([*TWO, "T,A-B,p,0.01,,p,test=two shares; A | right; B | right,"], "only if", "paired", ""),
        (
            [*TWO, "T,A-B,p,0.001,,p,test=mcnemar; A | right; B | right,"],
            "impossible",
            "",
            "0.0143",
        ),
        # G is 2.065, which has 0.151; Barnard's p is 0.208
        ([*TWO, "T,A-B,p,0.151,,p,test=two shares; A | right; B | right,"], "possible", "", ""),
        ([*TWO, "T,A-B,p,0.208,,p,test=two shares; A | right; B | right,"], "possible", "", ""),
        ([*TWO, "T,A-B,p,0.208,,p,test=mcnemar; A | right; B | right,"], "only if", "Barnard", ""),
        ([*TWO, "T,A,ci,59.8 to 85.8,,interval,A | right,"], "possible", "", "59.8 to 85.8"),
        ([*TWO, 'T,A,ci,"[61.0, 84.1]",,interval,A | right,'], "only if", "bootstrap", ""),
        ([*TWO, "T,A,ci,76.0 to 85.8,,interval,A | right,"], "impossible", "", ""),
        ([GRADE, "T,A,ci,3.30–4.00,,interval,grade,"], "possible", "", "3.65"),
        ([GRADE, "T,A,ci,3.30 to 3.90,,interval,grade,"], "only if", "symmetrical", "3.60"),
        # chance agreement is 0.51: kappa 0.694
        (
            [*RATERS, "T,k,k,0.69,40,kappa,both | agree; one | yes; two | yes,"],
            "possible",
            "",
            "0.69",
        ),
        (
            [*RATERS, "T,k,k,0.75,40,kappa,both | agree; one | yes; two | yes,"],
            "only if",
            "more than two",
            "0.69",
        ),
        (
            [*RATERS, "T,k,k,0.75,40,kappa,both | agree; one | yes; two | yes; classes=2,"],
            "impossible",
            "",
            "0.69",
        ),
        (
            [
                "T,a,agree,10%,40,share,,",
                *RATERS[1:],
                "T,k,k,0.1,40,kappa,a | agree; one | yes; two | yes,",
            ],
            "only if",
            "more than two",
            "",
        ),
        # 23 of 980 would disagree, but margins of 163 and 157 leave an even number: 22 of 980 is
        # 97.755%
        (
            [*COUNTED, "T,k,k,0.91,980,kappa,a | agree; one | yes; two | yes; classes=2,"],
            "only if",
            "cut off",
            "",
        ),
        (
            [*COUNTED, "T,k,k,0.95,980,kappa,a | agree; one | yes; two | yes; classes=2,"],
            "impossible",
            "",
            "",
        ),
        # of a thousand there are too many tables to list, but they are searched
        (
            ["T,a,agree,80%,1000,share,,", "T,k,k,0.64,1000,kappa,a | agree; classes=2,"],
            "impossible",
            "",
            "0.62",
        ),
        (
            ["T,a,agree,80%,1000,share,,", "T,k,k,0.60,1000,kappa,a | agree,"],
            "possible",
            "",
            "0.60",
        ),
        (["T,a,agree,80%,,share,,", "T,k,k,0.85,,kappa,a | agree,"], "only if", "is weighted", ""),
        (
            ["T,a,agree,80%,,share,,", "T,k,k,0.85,,kappa,a | agree; classes=3,"],
            "only if",
            "is weighted",
            "0.81",  # 0.805 at most
        ),
        # margins of 16 and 18 leave 2 discordant at least: 0.897
        (
            [*RATERS, "T,k,k,0.95,40,kappa,one | yes; two | yes; classes=2,"],
            "impossible",
            "",
            "0.90",
        ),
        (
            ["T,a,agree,85%,,share,,", "T,k,k,0.73,,kappa,a | agree; classes=2,"],
            "impossible",
            "",
            "0.72",
        ),
    ],
)
def test_a_check_by_hand(lines, verdict, only_if, fits):
    made = last(*lines)
    assert (made["verdict"], made["arithmetic"].count("\n")) == (verdict, verdict != "not testable")
    assert only_if in made["only_if"] and fits in made["would_fit"], made.to_dict()


JUDGE = ["T,J,accuracy,0.78,40,accuracy,,", "T,J,P,0.75,40,precision,,", "T,J,F1,0.73,40,f1,,"]


@pytest.mark.parametrize(
    "changed, verdict, only_if",
    [
        ({}, "possible", ""),
        ({2: "T,J,F1,0.98,40,f1,,"}, "impossible", ""),
        # TP 12, FP 4, FN 5, TN 19 has macro precision 0.771, macro recall 0.766 and macro F1 0.768
        ({1: "T,J,P,0.771,40,precision,,", 2: "T,J,R,0.766,40,recall,,"}, "only if", "macro means"),
        ({1: "T,J,P,0.75,40,precision,classes=3,"}, "not testable", "two classes"),
        ({0: "T,J,accuracy,0.78,40,accuracy,positives=17,"}, "possible", ""),
        ({0: "T,J,accuracy,0.78,40,accuracy,positives=23,"}, "only if", "other class"),
        (
            {
                0: "T,J,accuracy,0.78,6000,accuracy,,",
                1: "T,J,P,0.75,6000,precision,,",
                2: "T,J,F1,0.73,6000,f1,,",
            },
            "not testable",
            "5000",
        ),
    ],
)
def test_scores_of_one_matrix_by_hand(changed, verdict, only_if):
    lines = [changed.get(at, line) for at, line in enumerate(JUDGE)]
    made = found(*lines).iloc[0]
    assert (made["kind"], made["verdict"]) == ("scores of one matrix", verdict), made.to_dict()
    assert only_if in made["only_if"]
    if verdict == "impossible":
        assert "f1 0.86" in made["would_fit"] and "f1: " in made["power"]


def test_f1_of_the_mean_precision_and_recall_is_named():
    """TP 30, FP 25, FN 3, TN 2: macro precision 0.473, recall 0.492, F1 0.403; of means 0.482."""
    lines = ["T,J,P,0.473,60,macro precision,positives=33,", "T,J,R,0.492,60,macro recall,,"]
    mean, of_means = (found(*lines, f"T,J,F,{f1},60,macro f1,,").iloc[0] for f1 in (0.403, 0.482))
    assert mean["verdict"] == "possible" and of_means["verdict"] == "only if"
    assert of_means["only_if"] == "the macro F1 is the F1 of the mean precision and recall"


def test_rows_about_the_same_items_share_their_positives():
    """Recall 0.500 and 0.333 of 10 need 2, 4, 6, 8 and 3, 6, 9 positives; 0.200 of 10 needs 5."""

    def rows(a, b):
        return [
            f"T,{name},recall,{recall},10,recall,positives=set,"
            for name, recall in (("A", a), ("B", b))
        ]

    made = found(*rows("0.500", "0.333"))
    made = made[made["kind"] == "rows that share positives"].iloc[0]
    assert made["verdict"] == "possible" and "share 6 to 6" in made["arithmetic"]
    turned = ["T,A,recall,0.125,10,recall,positives=set,"]  # 8 positives
    made = found(*turned, "T,B,specificity,0.125,10,specificity,positives=set,")  # 8 negatives
    made = made[made["kind"] == "rows that share positives"].iloc[0]
    assert made["verdict"] == "only if" and "other class" in made["only_if"]
    made = found(*rows("0.125", "0.333"))  # 8 positives, or 2 if turned
    made = made[made["kind"] == "rows that share positives"].iloc[0]
    assert made["verdict"] == "impossible"


def test_what_is_made_of_percentages_is_in_percent():
    """70 and 60 have the mean 65, which is 5 below 70; 0.8% is no share of 0.8."""
    lines = [
        "T,A,right,70,,share,,",
        "T,B,right,60,,share,,",
        "T,m,right,65,,mean of rows,A; B,",
        "T,d,right,5,,difference,A; m,",
        "T,m,more,1.08,,ratio,A | right; m | right,",
        "T,C,wrong,0.8,1000,share,,",
        "T,D,wrong,99.2,1000,share,,",
        "T,all,wrong,100.0,,total,,",
    ]
    made = found(*lines)
    tested = made[made["verdict"] != "not testable"]
    assert len(tested) == 6 and set(tested["verdict"]) == {"possible"}, made.to_dict("records")


def test_totals_of_totals_are_whole():
    lines = ["T,A,x,3,,count,,", "T,B,x,4,,count,,", "T,all,x,7,,total,A; B,"]
    lines += ["T,C,x,5,,count,,", "T,every,x,{},,total,all; C,"]
    assert last(*lines[:-1], lines[-1].format(12))["verdict"] == "possible"
    assert last(*lines[:-1], lines[-1].format(13))["verdict"] == "impossible"


def test_an_unfinished_search_is_not_testable():
    rows = list(csv.DictReader([COLUMNS, *JUDGE]))
    made = bedside.check(pd.DataFrame(rows), seconds=0)
    assert made["verdict"].tolist() == ["not testable"] and "0 seconds" in made["only_if"][0]


@pytest.mark.parametrize(
    "lines, told",
    [
        (
            ["T,A,x,0.5,10,shares,,"],
            "line 2, column kind: unknown kind 'shares'; did you mean 'share'",
        ),
        (['T,A,x,"0,5,1",10,share,,'], "line 2, column value: '0,5,1' isn't a number; put stars"),
        (["T,A,x,0.5*,10,share,,"], "column value: '0.5*' isn't a number"),
        (["T,A,x,<0.5,10,share,,"], "only a p may be < a number"),
        (["T,A,x,0.5,ten,share,,"], "column n: 'ten' isn't a whole number"),
        (["T,A,x,0.5,0,share,,"], "column n: '0' isn't a whole number from 1"),
        (["T,A,x,,10,share,,"], "line 2, column value: is empty"),
        (
            ["T,A,x,0.5,10,share,,", "T,A,x,0.6,10,share,,"],
            "line 3: the same table, row, column and",
        ),
        ([*TWO, "T,d,right,15,,difference,A; C,"], "line 4, column of: 'C' is no row"),
        (["T,A,x,0.5,10,mean,scale=1,"], "column of: 'scale=1': write the least and the most"),
        (["T,A,x,0.5,10,mean,scales=1 to 5,"], "unknown setting 'scales'; did you mean 'scale'"),
        (["T,A,p,0.5,,p,test=u,"], "'test=u': the tests are mcnemar"),
        (["T,A,x,0.1234567891,10,share,,"], "has more than 9 decimals"),
        (["T,A,p,0.5,,p,comparisons=1001,"], "isn't a whole number up to 1000"),
        (["T,A,i,0.4 to 0.5,,interval,,", "T,B,x,0.5,,ratio,A | i; A | i,"], "is an interval"),
        (["T,A,i,0.5,,interval,,"], "'0.5' isn't two numbers"),
        (["T,A,x,0.5,10"], "line 2: 5 cells, but the header has 8"),
    ],
)
def test_faults_are_told_by_line_and_column(lines, told, tmp_path):
    path = tmp_path / "mine.csv"
    path.write_text("\n".join([COLUMNS, *lines]), encoding="utf-8")
    with pytest.raises(BedsideError, match=re.escape(told)):
        bedside.check(path)


def test_a_frame_keeps_the_printed_digits():
    with pytest.raises(BedsideError, match="row 1, column value: is a number, which has lost"):
        bedside.check(
            pd.DataFrame([("T", "A", "x", 0.5, "share")], columns=COLUMNS.split(",")[:4] + ["kind"])
        )
    with pytest.raises(BedsideError, match="has no column 'row'"):
        bedside.check(pd.DataFrame({"table": ["T"]}))


def test_trailing_zeros_count():
    """0.5 of 7 is 3 / 7 = 0.43 or 4 / 7 = 0.57: neither prints 0.50, one is 0.6, none 0.5."""
    assert last("T,A,x,0.4,7,share,,")["verdict"] == "possible"
    assert last("T,A,x,0.40,7,share,,")["verdict"] == "impossible"


def test_the_worked_example_has_two_slips():
    made = bedside.check(EXAMPLES / "six_lines.csv")
    assert made["verdict"].tolist() == ["impossible"] * 2 + ["possible"] * 2
    assert made["row"].tolist()[:2] == ["Plover", "Heron as a judge"]


@pytest.mark.parametrize(
    "name, told",
    [("chest_reports", (41, 3)), ("report_classifiers", (11, 0)), ("two_annotators", (30, 2))],
)
def test_tables_of_other_papers(name, told):
    """What docs/check.md says of them."""
    made = bedside.check(EXAMPLES / f"papers/{name}.csv")["verdict"].value_counts()
    assert (made["possible"], made.get("only if", 0)) == told and made.sum() == sum(told)


def test_the_template_has_every_kind_and_nothing_impossible(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    path = checking.template()
    with open(path, newline="", encoding="utf-8") as f:
        kinds = {row["kind"] for row in csv.DictReader(f)}
    assert kinds == {*checking.KINDS}
    assert set(bedside.check(path)["verdict"]) == {"possible"}
    with pytest.raises(BedsideError, match="is there already"):
        checking.template()


def test_the_documentation_has_each_kind_with_its_example():
    text = (paths.ROOT / "docs/check.md").read_text(encoding="utf-8")
    lines = (EXAMPLES / "every_kind.csv").read_text(encoding="utf-8").splitlines()
    shown = re.findall(r"^\| `([^`]+)` \|", text.split("## ")[2], re.M)
    assert sorted(shown) == sorted(checking.KINDS)
    assert lines[0] in text
    for line in re.findall(r"^Table \d,.*$", text, re.M):
        assert line in lines, line


HOSTILE = "<script>alert(1)</script>"


def test_the_page_escapes_what_the_file_says(tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("BEDSIDE_FIGURES", str(tmp_path / "figures"))
    path = tmp_path / "mine.csv"
    path.write_text(f"{COLUMNS}\nT,{HOSTILE},=x,70.1%,48,share,,\n", encoding="utf-8")
    steps.numbers(str(path))
    folder = tmp_path / "figures/checked/mine"
    assert f"1 checks: 1 impossible. Open {folder}/index.html" in capsys.readouterr().out
    page = (folder / "index.html").read_text(encoding="utf-8")
    assert HOSTILE not in page and "&lt;script&gt;" in page and "Content-Security-Policy" in page
    assert "no whole number" in page and "57 of 1001" in page
    with open(folder / "checks.csv", newline="", encoding="utf-8") as f:
        (row,) = csv.DictReader(f)
    assert [*row] == [*checking.COLUMNS] and row["verdict"] == "impossible"
    assert not row["column"].startswith("=")


def test_the_command_needs_a_file_and_writes_a_template(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(BedsideError, match="make check NUMBERS=mine.csv"):
        steps.numbers("")
    steps.numbers("new")
    assert "numbers.csv has a row of every kind" in capsys.readouterr().out
    with pytest.raises(BedsideError, match="there is no file number.csv; did you mean numbers.csv"):
        steps.numbers("number.csv")


def test_the_notebook_shows_the_two_slips(tmp_path, monkeypatch):
    monkeypatch.setenv("BEDSIDE_FIGURES", str(tmp_path))
    notebooks.execute(paths.NOTEBOOKS / "check_a_paper.ipynb", tmp_path / "out.ipynb", {})
    said = (tmp_path / "out.ipynb").read_text(encoding="utf-8")
    assert "70.1% of 48 stands for" in said and "2 impossible, 2 possible" in said
    assert (tmp_path / "checked/six_lines/index.html").is_file()
