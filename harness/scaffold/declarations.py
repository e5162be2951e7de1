"""What a header declares: classes with their public member functions, and functions.

In: the text of a C or C++ header. Out: `Declarations`, as they are written; nothing is preprocessed
or looked up, so that a type is its spelling. Operators and nested classes are left out, and
templates of functions but for members that take something of a type of their own.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Literal

import msgspec
import tree_sitter

from weakspot.harness.orders.syntax import Syntax

Node = tree_sitter.Node


class Parameter(msgspec.Struct, frozen=True):
    """A parameter: its type with `&` and `*`, without its name; whether it has a default."""

    type: str
    default: bool = False


class Function(msgspec.Struct, frozen=True):
    """A function: its name, the type that it returns, its parameters, and whether the header
    defines it."""

    name: str
    returns: str
    parameters: tuple[Parameter, ...] = ()
    defined: bool = True
    static: bool = False

    @property
    def needed(self) -> tuple[Parameter, ...]:
        """The parameters without a default."""
        return tuple(each for each in self.parameters if not each.default)


class TemplateParameter(msgspec.Struct, frozen=True):
    kind: Literal["type", "value", "other"]
    name: str
    default: bool


class Class(msgspec.Struct, frozen=True):
    """A class with its public constructors and member functions; `name` has its namespaces.
    `generic` are member functions whose one parameter has the type that their template names."""

    name: str
    template: tuple[TemplateParameter, ...] = ()
    constructors: tuple[Function, ...] = ()
    functions: tuple[Function, ...] = ()
    generic: tuple[Function, ...] = ()


class Declarations(msgspec.Struct, frozen=True):
    """What a header declares; whether it is C++."""

    cpp: bool
    classes: tuple[Class, ...]
    functions: tuple[Function, ...]


def read(path: Path) -> Declarations:
    """The declarations in a header. Raises OSError."""
    return read_text(str(path), path.read_bytes())


def read_text(path: str, source: bytes) -> Declarations:
    """The declarations in a source; its path tells the language."""
    syntax = Syntax(path, source)
    reader = _Reader(syntax)
    reader.inside(syntax.root, "", ())
    cpp = not path.endswith((".h", ".c")) or _CPP.search(syntax.source) is not None
    return Declarations(cpp, tuple(reader.classes), tuple(reader.functions))


_CPP = re.compile(rb"^\s*(?:class|namespace|template|using)\b|\bstd::", re.MULTILINE)
"""What no C header has."""
_BODIES = {"linkage_specification", "declaration_list", "preproc_ifdef", "preproc_if"}
_BODIES |= {"preproc_else", "translation_unit"}


class _Reader:
    def __init__(self, syntax: Syntax) -> None:
        self.syntax = syntax
        self.classes: list[Class] = []
        self.functions: list[Function] = []

    def inside(self, node: Node, scope: str, template: tuple[TemplateParameter, ...]) -> None:
        """Read what is declared directly below a node."""
        for each in node.named_children:
            if each.type in _BODIES:
                self.inside(each, scope, ())
            elif each.type == "namespace_definition":
                name = each.child_by_field_name("name")
                inner = f"{scope}{self._text(name)}::" if name is not None else scope
                if (body := each.child_by_field_name("body")) is not None:
                    self.inside(body, inner, ())
            elif each.type == "template_declaration":
                self.inside(each, scope, tuple(self._template(each)))
            elif each.type in ("class_specifier", "struct_specifier"):
                self._class(each, scope, template)
            elif each.type in ("function_definition", "declaration") and not template:
                found = self._function(each)
                if found is not None:
                    whole = msgspec.structs.replace(found, name=f"{scope}{found.name}")
                    self.functions.append(whole)

    def _text(self, node: Node | None) -> str:
        return " ".join(self.syntax.text(node).split()) if node is not None else ""

    def _template(self, node: Node) -> Iterator[TemplateParameter]:
        listed = node.child_by_field_name("parameters")
        for each in listed.named_children if listed is not None else ():
            default = each.type.startswith("optional") or (
                each.child_by_field_name("default_value") is not None
                or each.child_by_field_name("default_type") is not None
            )
            kind: Literal["type", "value", "other"] = "other"
            if each.type in ("type_parameter_declaration", "optional_type_parameter_declaration"):
                kind = "type"
            elif each.type in ("parameter_declaration", "optional_parameter_declaration"):
                kind = "value"
            names = [one for one in each.named_children if one.type.endswith("identifier")]
            name = names[0 if kind == "type" else -1] if names else None
            yield TemplateParameter(kind, self._text(name), default)

    def _class(self, node: Node, scope: str, template: tuple[TemplateParameter, ...]) -> None:
        name, body = node.child_by_field_name("name"), node.child_by_field_name("body")
        if name is None or body is None or name.type != "type_identifier":
            return
        own = self._text(name)
        public = node.type == "struct_specifier"
        constructors: list[Function] = []
        functions: list[Function] = []
        generic: list[Function] = []
        for each in body.children:
            if each.type == "access_specifier":
                public = self._text(each) == "public"
            elif public and each.type in (
                "function_definition",
                "field_declaration",
                "declaration",
            ):
                deleted = any(one.type == "delete_method_clause" for one in each.children)
                found = None if deleted else self._function(each)
                if found is None or found.name.startswith("~"):
                    continue
                (constructors if found.name == own else functions).append(found)
            elif public and each.type == "template_declaration":
                generic += self._generic(each)
        self.classes.append(
            Class(f"{scope}{own}", template, tuple(constructors), tuple(functions), tuple(generic))
        )

    def _generic(self, node: Node) -> Iterator[Function]:
        """The function of a template whose one parameter has the type that the template names
        first."""
        named = [each.name for each in self._template(node) if each.kind == "type"][:1]
        for each in node.named_children:
            if each.type in ("function_definition", "declaration", "field_declaration"):
                found = self._function(each)
                if found is not None and [_bare(one.type) for one in found.needed] == named:
                    yield found

    def _function(self, node: Node) -> Function | None:
        """The function that a declaration declares, if it declares one."""
        declarator = node.child_by_field_name("declarator")
        suffix = ""
        while declarator is not None and declarator.type != "function_declarator":
            if declarator.type == "pointer_declarator":
                suffix += "*"
            elif declarator.type == "reference_declarator":
                suffix += "&"
            else:
                return None
            inner = declarator.child_by_field_name("declarator")
            declarator = inner or next(iter(declarator.named_children), None)
        if declarator is None:
            return None
        name = declarator.child_by_field_name("declarator")
        parameters = declarator.child_by_field_name("parameters")
        if name is None or parameters is None or name.type not in _NAMES:
            return None
        type_ = node.child_by_field_name("type")
        trailing = [one for one in declarator.children if one.type == "trailing_return_type"]
        returns = self._text(trailing[0])[2:].strip() if trailing else self._text(type_) + suffix
        words = {self._text(one) for one in node.children if one.type == "storage_class_specifier"}
        return Function(
            name=self._text(name),
            returns=returns,
            parameters=tuple(self._parameters(parameters)),
            defined=node.type == "function_definition",
            static="static" in words,
        )

    def _parameters(self, listed: Node) -> Iterator[Parameter]:
        for each in listed.named_children:
            if each.type not in ("parameter_declaration", "optional_parameter_declaration"):
                continue
            text = self._text(each.child_by_field_name("type"))
            suffix = ""
            declarator = each.child_by_field_name("declarator")
            while declarator is not None and "declarator" in declarator.type:
                written = self._text(declarator)
                if declarator.type.endswith(("pointer_declarator",)):
                    suffix += "*"
                elif declarator.type.endswith("reference_declarator"):
                    suffix += "&&" if written.startswith("&&") else "&"
                elif declarator.type.endswith("array_declarator"):
                    suffix += "*"
                else:
                    suffix += "()"
                inner = declarator.child_by_field_name("declarator")
                declarator = inner or next(iter(declarator.named_children), None)
            if text == "void" and not suffix:
                continue
            constant = any(
                one.type == "type_qualifier" and self._text(one) == "const" for one in each.children
            )
            yield Parameter(
                ("const " if constant else "") + text + suffix,
                default=each.type.startswith("optional"),
            )


_NAMES = {"identifier", "field_identifier", "destructor_name", "type_identifier"}


def _bare(type_: str) -> str:
    """A type without `const` and `&`."""
    return type_.removeprefix("const ").rstrip("&")
