"""The functions that jobs of the kind `python` may name, and how each of them is run."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any

from gnomon.core.values.choices import Choice
from gnomon.core.values.document import check_name
from gnomon.errors import InvalidInput
from gnomon.handlers.base import NotHere
from gnomon.handlers.python.arguments import Signature, signature_of


class Isolation(Choice):
    LOOP = "loop"  # In the worker's event loop. Async functions, and sync ones that never wait.
    THREAD = "thread"  # In a thread of the worker. Sync functions.
    PROCESS = "process"  # In a child process of its own, which can be killed.


@dataclass(frozen=True, slots=True)
class Function:
    """A function with all that is known about it before it runs."""

    name: str
    call: Callable[..., Any]
    is_async: bool
    isolation: Isolation
    signature: Signature
    owner: Functions  # Where a child process finds it.


class Functions:
    """Functions by the name that jobs use. Nothing else can be called: data never names code to import.

    `home` says where a child process finds this registry: `module:attribute`, which is the registry or an
    object whose attribute `functions` is one.
    """

    def __init__(self, *, home: str | None = None) -> None:
        self._functions: dict[str, Function] = {}
        self.home = home

    def add(
        self, name: str, function: Callable[..., Any], *, isolation: Isolation | str | None = None
    ) -> Function:
        """Async functions run in the loop and sync ones in a thread, unless told otherwise."""
        check_name(name, field="name")
        if name in self._functions:
            raise InvalidInput("name", f"a function named {name!r} is registered already.")
        is_async = is_async_callable(function)
        made = Function(
            name, function, is_async, self._isolation(isolation, is_async), signature_of(function), self
        )
        self._functions[name] = made
        return made

    def __iter__(self) -> Iterator[Function]:
        return iter(self._functions.values())

    def get(self, name: str) -> Function | None:
        return self._functions.get(name)

    def __getitem__(self, name: str) -> Function:
        try:
            return self._functions[name]
        except KeyError:
            raise NotHere(f"No function named {name!r} is registered on this worker.") from None

    def _isolation(self, asked: Isolation | str | None, is_async: bool) -> Isolation:
        if asked is None:
            return Isolation.LOOP if is_async else Isolation.THREAD
        try:
            isolation = Isolation(asked)
        except ValueError:
            raise InvalidInput("isolation", f"{asked!r} is not one of {', '.join(Isolation)}.") from None
        if isolation is Isolation.THREAD and is_async:
            raise InvalidInput("isolation", "an async function runs in the loop or in a process.")
        if isolation is Isolation.PROCESS and self.home is None:
            raise InvalidInput(
                "isolation",
                "a child process must find the function: make Functions(home='module:attribute').",
            )
        return isolation


def is_async_callable(function: Callable[..., Any]) -> bool:
    if inspect.isgeneratorfunction(function) or inspect.isasyncgenfunction(function):
        raise InvalidInput("function", "a generator gives many values; a job has one result.")
    if inspect.isclass(function) or not hasattr(function, "__call__"):  # noqa: B004 - see below.
        raise InvalidInput("function", f"{function!r} is not a function.")
    called = getattr(function, "__call__", None)  # noqa: B004 - the method itself is wanted.
    return inspect.iscoroutinefunction(function) or inspect.iscoroutinefunction(called)


def union(registries: Iterable[Functions]) -> Functions:
    """The functions of several registries as one. Raises InvalidInput if two have one of the same name."""
    together = Functions()
    for registry in registries:
        for function in registry:
            if together.get(function.name) is not None:
                raise InvalidInput("app", f"two apps have a function named {function.name!r}.")
            together._functions[function.name] = function
    return together


def _imported(name: str) -> ModuleType:
    try:
        return import_module(name)
    except ModuleNotFoundError as error:
        if error.name is None or not f"{name}.".startswith(f"{error.name}."):
            raise  # It is there; something that it imports is not.
        raise InvalidInput(
            "app", f"there is no module {error.name!r}, neither in the folder {Path.cwd()} nor installed."
        ) from None


def load(home: str) -> Functions:
    """The registry that `home` names. Raises InvalidInput if there is none; importing may raise anything."""
    module_name, colon, attribute = home.partition(":")
    if not (module_name and colon and attribute):
        raise InvalidInput("app", f"{home!r} is not of the form 'module:attribute'.")
    place: Any = _imported(module_name)
    for name in attribute.split("."):
        try:
            place = getattr(place, name)
        except AttributeError:
            raise InvalidInput("app", f"there is no {attribute!r} in {module_name!r}.") from None
    found = place if isinstance(place, Functions) else getattr(place, "functions", None)
    if not isinstance(found, Functions):
        what = type(place).__name__
        raise InvalidInput("app", f"{home!r} is a {what}. Name the variable that holds the Gnomon().")
    found.home = home  # Where we found it, a child process finds it too, with all that this import brings.
    return found
