"""From checked evidence to a table: declared rows, named aggregates, rounded text, lineage, ledger.

``compute(project, spec)`` is the whole stage; ``spec.load`` reads the declaration. pandas is imported only
when a report is computed, so that listing reports costs nothing.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from tallymark.errors import UsageError
from tallymark.tables import spec as spec
from tallymark.tables.spec import Spec

if TYPE_CHECKING:
    from tallymark.tables.report import Report

__all__ = ["Spec", "compute", "report_names", "spec"]


def report_names(project: Path) -> list[str]:
    """The reports of a project: the names of ``site/reports/*.toml``, sorted."""
    return spec.names(project)


def compute(project: Path, report_spec: Spec) -> Report:
    """See ``tables.report.compute``. UsageError: pandas is not installed."""
    try:
        from tallymark.tables.report import compute as compute_report
    except ModuleNotFoundError as error:
        if error.name not in ("pandas", "numpy"):
            raise
        raise UsageError(
            "tallymark table", "pandas is not installed", 'install it with: pip install "tallymark[site]"'
        ) from None
    return compute_report(project, report_spec)
