"""How every command behaves: its help, and what becomes of its errors."""

from __future__ import annotations

import errno
import os
import sys
from collections.abc import Iterator, Mapping
from inspect import cleandoc
from typing import Any

import typer
from typer.core import TyperArgument, TyperCommand, TyperGroup, TyperOption

from tarantella.cli import defaults, exits
from tarantella.cli.plain import STAYS_TOGETHER, one_line, wrapped
from tarantella.cli.terminal import line_width
from tarantella.cli.typed import understood
from tarantella.domain.errors import TarantellaError

OTHER_OPTIONS = "Other options"
_NO_ROOM = (errno.ENOSPC, errno.EDQUOT, errno.EIO, errno.EFBIG)


class Command(TyperCommand):
    """A command with its options in groups, whose function returns the exit code."""

    def get_params(self, ctx: Any) -> list[Any]:
        return understood(super().get_params(ctx))

    def format_options(self, ctx: Any, formatter: Any) -> None:
        values = defaults.in_force()
        for heading, rows in grouped(self, values).items():
            with formatter.section(heading):
                formatter.write_dl(rows, col_max=26)
        formatter.buffer[:] = [text.replace(STAYS_TOGETHER, " ") for text in formatter.buffer]

    def collect_usage_pieces(self, ctx: Any) -> list[str]:
        return [self.options_metavar or "", *(argument.metavar or "" for argument in arguments(self))]

    def format_epilog(self, ctx: Any, formatter: Any) -> None:
        write_examples(self.epilog, formatter)

    def invoke(self, ctx: Any) -> Any:
        try:
            code = super().invoke(ctx)
            sys.stdout.flush()
        except (typer.Exit, typer.Abort, typer.TyperException):
            raise
        except BrokenPipeError:
            _forget_stdout()
            code = exits.READER_GONE
        except KeyboardInterrupt:
            code = exits.INTERRUPTED
        except Exception as error:
            code = complain(error, verbose=int(ctx.params.get("verbose") or 0))
        raise typer.Exit(code or 0)


class Group(TyperGroup):
    """A group of commands, with its examples as they were written."""

    def get_params(self, ctx: Any) -> list[Any]:
        return understood(super().get_params(ctx))

    def format_epilog(self, ctx: Any, formatter: Any) -> None:
        write_examples(self.epilog, formatter)


def complain(error: Exception, *, verbose: int = 0) -> int:
    """Say what went wrong and what to do; the exit code."""
    if verbose > 1:
        import traceback

        traceback.print_exception(error)
    if isinstance(error, TarantellaError):
        say_error(str(error))
        return exits.of_error(error)
    if isinstance(error, OSError) and error.errno in _NO_ROOM:
        _forget_stdout()
        say_error(f"The output could not be written: {error.strerror}. Free some room, or write it elsewhere.")
        return exits.FAILED
    kind = f"{type(error).__name__}: {error}" if str(error) else type(error).__name__
    remedy = "" if verbose > 1 else " Run it again with -vv to see where."
    say_error(f"Something unexpected went wrong: {' '.join(kind.split()).rstrip('.')}.{remedy}")
    return exits.FAILED


def _forget_stdout() -> None:
    """Python would complain once more when it closes stdout at its end."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def say_error(message: str) -> None:
    told = "\n".join(wrapped(f"error: {' '.join(one_line(message).split())}", line_width(sys.stderr)))
    encoding = sys.stderr.encoding or "ascii"
    sys.stderr.write(f"{told}\n".encode(encoding, "replace").decode(encoding))
    sys.stderr.flush()


def grouped(command: Any, values: Mapping[str, str]) -> dict[str, list[tuple[str, str]]]:
    """Arguments and options by heading, each as its spelling and what it means."""
    groups: dict[str, list[tuple[str, str]]] = {}
    if found := [(argument.metavar or "", argument.help or "") for argument in arguments(command)]:
        groups["Arguments"] = found
    other: list[tuple[str, str]] = []
    for param in options(command):
        row = (spelling(param), " ".join(meaning(param, values)))
        (groups.setdefault(param.rich_help_panel, []) if param.rich_help_panel else other).append(row)
    other.append(("--help", "Show this message and exit."))
    return {**groups, OTHER_OPTIONS: other}


def arguments(command: Any) -> Iterator[TyperArgument]:
    return (param for param in command.params if isinstance(param, TyperArgument))


def options(command: Any) -> Iterator[TyperOption]:
    return (param for param in command.params if isinstance(param, TyperOption) and not param.hidden)


def spelling(option: TyperOption) -> str:
    """`-v, --verbose`, `--depth N|all` or `--pause / --go-on`."""
    names = ", ".join(sorted(option.opts, key=len))
    if option.secondary_opts:
        names += f" / {', '.join(option.secondary_opts)}"
    return names if option.is_flag or option.count else f"{names} {option.metavar or 'VALUE'}"


def meaning(option: TyperOption, values: Mapping[str, str]) -> Iterator[str]:
    """What an option does, whether it can be repeated, and its default."""
    yield option.help or ""
    if option.multiple:
        yield "Can be given more than once."
    if (default := default_of(option, values)) is not None:
        yield f"[default:{STAYS_TOGETHER}{default}]"


def default_of(option: TyperOption, values: Mapping[str, str]) -> str | None:
    """The default in words; a switch is off, which needs no saying."""
    if option.name in values:
        return values[option.name]
    if isinstance(option.show_default, str):
        return option.show_default
    if option.is_flag or option.count or option.default is None or not option.show_default:
        return None
    return str(option.default)


def write_examples(text: str | None, formatter: Any) -> None:
    """The epilog line by line: examples are to be copied, not filled into paragraphs."""
    if text:
        formatter.write_paragraph()
        formatter.write(cleandoc(text) + "\n")
