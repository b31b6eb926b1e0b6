"""Where a scraper's script is."""

from __future__ import annotations

from pathlib import Path

from tarantella.domain.scraper import Scraper, is_name

FOLDERS = ("scripts/etl", "scripts/scrapers", "scripts")  # in which it is looked for, in this order


class NoScript(LookupError):
    """There is none, or nobody can say which."""


def find_script(scraper: Scraper, base: Path) -> Path:
    """The script that the scraper names, or the one of its name, or the only one whose name has its in it. Raises NoScript."""
    try:
        return _found(scraper, base.resolve())
    except (OSError, RuntimeError) as error:  # a name that is too long, a folder that is not ours, a link to itself
        raise NoScript(f"The script of {scraper.name[:100]!r} can't be looked at: {error}") from None


def _found(scraper: Scraper, base: Path) -> Path:
    if scraper.script is not None:
        return _within(base / scraper.script, base, f"the script {scraper.script!r}")
    if not is_name(scraper.name):
        raise NoScript(f"{scraper.name[:100]!r} can't be the name of a script.")
    folders = [base / folder for folder in FOLDERS]
    for folder in folders:
        if (exact := folder / f"{scraper.name}.py").is_file():
            return _within(exact, base / "scripts", f"{exact.name}")
    alike = sorted(
        {each for folder in folders if folder.is_dir() for each in folder.glob("*.py") if _fits(scraper, each)}
    )
    if not alike:
        raise NoScript(f"There is no {scraper.name}.py in {', '.join(FOLDERS)}, nor one like it.")
    if len(alike) > 1:
        told = ", ".join(str(each.relative_to(base)) for each in alike[:5])
        raise NoScript(f"There is no {scraper.name}.py, and several are like it: {told}. Name one as its `script`.")
    return _within(alike[0], base / "scripts", alike[0].name)


def _fits(scraper: Scraper, path: Path) -> bool:
    return scraper.name in path.stem


def _within(path: Path, folder: Path, words: str) -> Path:
    """The real file, if it is one below this folder: neither `..` nor a link leads out of it."""
    real = path.resolve()
    if not real.is_file():
        raise NoScript(f"There is no {words}.")
    if not real.is_relative_to(folder.resolve()):
        raise NoScript(f"{words} lies outside of {folder.name or folder}.")
    return real
