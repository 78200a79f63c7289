"""MedDialBench: the rows of tables and figures, a module for each notebook."""

import pandas as pd


def stack(*frames):
    """Table rows one below the other."""
    return pd.concat([f for f in frames if len(f)], ignore_index=True)
