"""The items of a Rust file that the operations of an object may be: its functions, those of the
`impl` blocks, the types with their parameters, and the statics. Nothing is looked up: a type is its
spelling, and modules and traits are left out.
"""

from __future__ import annotations

import re
from pathlib import Path

import msgspec
import tree_sitter

from weakspot.errors import BadInput
from weakspot.harness.edits.syntax import Syntax

Node = tree_sitter.Node


class Function(msgspec.Struct, frozen=True):
    """A function: the type whose `impl` block it is in, empty for one outside; its receiver, such
    as `&self`, empty if it has none; the types of its other parameters, those that it is generic
    in, what it returns, empty for nothing."""

    name: str
    owner: str
    receiver: str
    parameters: tuple[str, ...]
    types: tuple[str, ...]
    returns: str
    public: bool
    asynchronous: bool
    line: int


class Type(msgspec.Struct, frozen=True):
    """A struct or an enum. `parameters` are those without a default, as they are written."""

    name: str
    parameters: tuple[str, ...]
    public: bool
    has_default: bool
    line: int


class Static(msgspec.Struct, frozen=True):
    name: str
    type: str
    public: bool


class Items(msgspec.Struct, frozen=True):
    """What a file defines. `drops` are the lines of the destructors, by the name of the type."""

    functions: tuple[Function, ...]
    types: dict[str, Type]
    statics: tuple[Static, ...]
    drops: dict[str, int]


def read(path: Path) -> Items:
    """The items of a file. Raises BadInput for a file that cannot be read."""
    try:
        source = path.read_bytes()
    except OSError as error:
        raise BadInput(f"cannot read {path}: {error.strerror}") from error
    reader = _Reader(Syntax(str(path), source))
    reader.read()
    return Items(tuple(reader.functions), reader.types, tuple(reader.statics), reader.drops)


class _Reader:
    def __init__(self, syntax: Syntax) -> None:
        self.syntax = syntax
        self.functions: list[Function] = []
        self.types: dict[str, Type] = {}
        self.statics: list[Static] = []
        self.drops: dict[str, int] = {}
        self.defaults: set[str] = set()

    def read(self) -> None:
        derived = False
        for node in self.syntax.root.named_children:
            if node.type == "attribute_item":
                derived |= bool(re.search(r"derive\(.*\bDefault\b", self.text(node)))
                continue
            if node.type == "function_item":
                self.functions.append(self.function(node, ""))
            elif node.type in ("struct_item", "enum_item"):
                found = self.type(node, has_default=derived)
                self.types[found.name] = found
            elif node.type == "static_item":
                its_type = self.text(node.child_by_field_name("type"))
                name = self.text(node.child_by_field_name("name"))
                self.statics.append(Static(name, its_type, self.is_public(node)))
            elif node.type == "impl_item":
                self.implementation(node)
            if "comment" not in node.type:
                derived = False
        for name in self.defaults & self.types.keys():
            self.types[name] = msgspec.structs.replace(self.types[name], has_default=True)

    def implementation(self, node: Node) -> None:
        owner = base(self.text(node.child_by_field_name("type")))
        body, trait = node.child_by_field_name("body"), node.child_by_field_name("trait")
        functions = [each for each in _children(body) if each.type == "function_item"]
        if trait is None:
            self.functions += (self.function(each, owner) for each in functions)
        elif self.text(trait) == "Default":
            self.defaults.add(owner)
        elif self.text(trait) == "Drop" and functions:
            self.drops[owner] = functions[0].start_point[0] + 1

    def function(self, node: Node, owner: str) -> Function:
        receiver, parameters = "", list[str]()
        for each in _children(node.child_by_field_name("parameters")):
            pattern = each.child_by_field_name("pattern")
            if each.type == "self_parameter":
                receiver = re.sub(r"'\w+\s*", "", self.text(each))
            elif pattern is not None and pattern.type == "self":
                receiver = self.text(each)
            elif each.type == "parameter":
                parameters.append(self.text(each.child_by_field_name("type")))
        modifiers = [each for each in node.children if each.type == "function_modifiers"]
        name = node.child_by_field_name("name")
        returns = self.text(node.child_by_field_name("return_type"))
        return Function(
            name=self.text(name),
            owner=owner,
            receiver=receiver,
            parameters=tuple(parameters),
            types=tuple(
                self.text(each.child_by_field_name("name"))
                for each in _children(node.child_by_field_name("type_parameters"))
                if each.type == "type_parameter"
            ),
            returns="" if returns == "()" else returns,
            public=self.is_public(node),
            asynchronous=any("async" in self.text(each).split() for each in modifiers),
            line=(name or node).start_point[0] + 1,
        )

    def type(self, node: Node, *, has_default: bool) -> Type:
        parameters = [
            self.text(each)
            for each in _children(node.child_by_field_name("type_parameters"))
            if not (each.child_by_field_name("default_type") or each.child_by_field_name("value"))
        ]
        return Type(
            name=self.text(node.child_by_field_name("name")),
            parameters=tuple(parameters),
            public=self.is_public(node),
            has_default=has_default,
            line=node.start_point[0] + 1,
        )

    def is_public(self, node: Node) -> bool:
        return any(
            each.type == "visibility_modifier" and self.text(each) == "pub"
            for each in node.children
        )

    def text(self, node: Node | None) -> str:
        return " ".join(self.syntax.text(node).split()) if node is not None else ""


def base(written: str) -> str:
    """The name of a type without its path and its arguments."""
    return written.partition("<")[0].rpartition("::")[2].strip()


def _children(node: Node | None) -> list[Node]:
    return node.named_children if node is not None else []
