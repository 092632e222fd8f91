"""``tallymark site``: build, serve and photograph the static site."""

from __future__ import annotations

from pathlib import Path

import click

from tallymark.cli.talk import talk
from tallymark.errors import UsageError

_OUT = click.option(
    "--site",
    "site_folder",
    type=click.Path(file_okay=False, path_type=Path),
    default=None,
    show_default="build/site of the project",
    help="The built site.",
)


@click.group()
def site() -> None:
    """Build, serve or photograph the static site."""


@site.command()
@click.option(
    "--report",
    "reports",
    multiple=True,
    type=click.Path(dir_okay=False, exists=True, path_type=Path),
    help="Also publish this report spec (a TOML file); may be repeated.",
)
@click.option(
    "--out",
    type=click.Path(file_okay=False, path_type=Path),
    default=None,
    show_default="build/site of the project",
    help="Where the site goes; an earlier site there is replaced in one step.",
)
@click.pass_obj
def build(project: Path, reports: tuple[Path, ...], out: Path | None) -> None:
    """Compute every report, make the pages, recount them, and only then swap the new site in.

    Prints the folder of the site. Exit codes: 0 built, 1 the evidence or the recount of the new site has
    findings (the old site stays), 2 a bad spec, 4 there is no report, 5 unreadable evidence.
    """
    _require_extra()
    from tallymark.site.build import build_site

    outcome = build_site(project, reports, out, say=talk)
    talk(f"{outcome.recounted.summary()}; {outcome.files} files")
    click.echo(click.format_filename(outcome.site))


@site.command()
@_OUT
@click.option("--port", type=click.IntRange(0, 65535), default=8000, show_default=True, help="0: a free one.")
@click.pass_obj
def serve(project: Path, site_folder: Path | None, port: int) -> None:
    """Serve the built site on 127.0.0.1, read-only, until Ctrl-C."""
    from tallymark.site.serve import server

    with server(_site(project, site_folder), port) as http:
        click.echo(f"http://{http.server_address[0]!s}:{http.server_address[1]}/")
        try:
            http.serve_forever()
        except KeyboardInterrupt:
            talk("stopped")


@site.command()
@_OUT
@click.option("--page", default="index.html", show_default=True, help="Page below the site, with #anchor.")
@click.option("--dark", is_flag=True, help="Dark colours.")
@click.option("--width", type=click.IntRange(200, 8000), default=1280, show_default=True, help="Pixels.")
@click.option("--height", type=click.IntRange(200, 20000), default=900, show_default=True, help="Pixels.")
@click.option(
    "--out", type=click.Path(dir_okay=False, path_type=Path), required=True, help="The PNG file to write."
)
@click.pass_obj
def screenshot(
    project: Path, site_folder: Path | None, page: str, dark: bool, width: int, height: int, out: Path
) -> None:
    """Write a picture of a page of the built site, made by the system's headless Chromium."""
    from tallymark.site.screenshot import Picture, photograph

    photograph(_site(project, site_folder), Picture(page, dark, width, height), out)
    click.echo(click.format_filename(out))


def _site(project: Path, folder: Path | None) -> Path:
    return project / "build" / "site" if folder is None else folder


def _require_extra() -> None:
    """UsageError: a library of the ``site`` extra is not installed."""
    import importlib.util

    lacking = [
        name
        for name in ("pandas", "jinja2", "plotly", "mkdocs", "material")
        if importlib.util.find_spec(name) is None
    ]
    if lacking:
        raise UsageError(
            "tallymark site build",
            f"not installed: {', '.join(lacking)}",
            'install them with: pip install "tallymark[site]"',
        )
