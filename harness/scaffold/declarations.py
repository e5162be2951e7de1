"""What a header declares: classes with their public member functions, and functions.

In: a C or C++ header, as the preprocessor leaves its lines, or a source. Out: `Declarations`, as
they are written; nothing is looked up, so that a type is its spelling. Operators and nested classes
are left out, and templates of functions except for members all of whose arguments have types that
the template names. A class has the functions of its public base classes if the header declares
these too.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Literal

import msgspec
import tree_sitter

from weakspot.generators.source.build import Build
from weakspot.generators.source.frontend import own_text
from weakspot.harness.edits.syntax import Syntax

Node = tree_sitter.Node


class Parameter(msgspec.Struct, frozen=True):
    """A parameter: its type with `&` and `*`; whether a call may leave it out; its name, if it has
    one."""

    type: str
    default: bool = False
    name: str = ""


class Function(msgspec.Struct, frozen=True):
    """A function: its name, the type that it returns, its parameters, and whether the header
    defines it. `types` are the type parameters of its own template, `at` is the byte at which its
    name and parameters begin."""

    name: str
    returns: str
    parameters: tuple[Parameter, ...] = ()
    defined: bool = True
    static: bool = False
    types: tuple[str, ...] = ()
    at: int = 0

    @property
    def needed(self) -> tuple[Parameter, ...]:
        """The parameters without a default."""
        return tuple(each for each in self.parameters if not each.default)


class TemplateParameter(msgspec.Struct, frozen=True):
    kind: Literal["type", "value", "other"]
    name: str
    default: bool


class Class(msgspec.Struct, frozen=True):
    """A class with its public constructors and member functions; `name` has its namespaces. `base`:
    only a class that is derived from it can be constructed."""

    name: str
    template: tuple[TemplateParameter, ...] = ()
    constructors: tuple[Function, ...] = ()
    functions: tuple[Function, ...] = ()
    base: bool = False


class Declarations(msgspec.Struct, frozen=True):
    """What a header declares; whether it is C++."""

    cpp: bool
    classes: tuple[Class, ...]
    functions: tuple[Function, ...]


def read(header: Path, source: Path, build: Build) -> Declarations:
    """The declarations in a header that a source includes. Raises BadInput."""
    text = own_text(source, header, build)
    return read_text(source.name, text.encode(errors="surrogateescape"))


def is_cpp(header: Path) -> bool:
    """Whether a header is one of C++. Raises OSError."""
    return header.suffix != ".h" or _CPP.search(header.read_bytes()) is not None


def read_text(path: str, source: bytes) -> Declarations:
    """The declarations in a source as it is written; its path tells the language."""
    syntax = Syntax(path, source)
    reader = _Reader(syntax)
    reader.inside(syntax.root, "", ())
    return Declarations(not path.endswith(".c"), tuple(reader.classes), tuple(reader.functions))


_CPP = re.compile(rb"^\s*(?:class|namespace|template|using)\b|\bstd::", re.MULTILINE)
"""What no C header has."""
_ENABLED = re.compile(r"(?:typename )?(?:\w+::)*enable_if(?:_t)?<.*, ?(\w+)>(?:::type)?")
"""The type that a template of a function returns where its condition holds."""
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
            if each.type.endswith("type_parameter_declaration"):
                kind = "type"
                default = default or each.type.startswith("variadic")
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
        hidden = False
        constructors: list[Function] = []
        functions: list[Function] = []
        for each in body.children:
            if each.type == "access_specifier":
                public = self._text(each) == "public"
            elif each.type in _MEMBERS:
                deleted = any(one.type == "delete_method_clause" for one in each.children)
                found = None if deleted else self._function(each)
                if found is None or found.name.startswith("~"):
                    continue
                if public:
                    (constructors if found.name == own else functions).append(found)
                hidden = hidden or (not public and found.name == own)
            elif public and each.type == "template_declaration":
                functions += (one for one in self._generic(each) if one.name != own)
        named = {each.name for each in functions}
        for base in self._bases(node, scope):
            functions += (each for each in base.functions if each.name not in named)
        self.classes.append(
            Class(
                f"{scope}{own}",
                template,
                tuple(constructors),
                tuple(functions),
                base=hidden and not constructors,
            )
        )

    def _bases(self, node: Node, scope: str) -> Iterator[Class]:
        """The public base classes that were read before."""
        public = node.type == "struct_specifier"
        for clause in node.named_children:
            if clause.type != "base_class_clause":
                continue
            given = public
            for each in clause.children:
                if each.type == ",":
                    given = public
                elif each.type in ("access_specifier", "public", "protected", "private"):
                    given = self._text(each) == "public"
                elif given and each.is_named:
                    name = self._text(each).partition("<")[0].strip()
                    yield from (one for one in self.classes if one.name in (name, scope + name))

    def _generic(self, node: Node) -> Iterator[Function]:
        """The function of a template whose arguments all have types that the template names."""
        listed = tuple(self._template(node))
        types = tuple(each.name for each in listed if each.kind == "type")
        if any(each.kind != "type" and not each.default for each in listed):
            return
        for each in node.named_children:
            if each.type in _MEMBERS:
                found = self._function(each)
                if (
                    found is not None
                    and found.needed
                    and all(_bare(one.type) in types for one in found.needed)
                ):
                    yield msgspec.structs.replace(found, types=types)

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
        if (enabled := _ENABLED.fullmatch(returns)) is not None:
            returns = enabled[1]
        words = {self._text(one) for one in node.children if one.type == "storage_class_specifier"}
        return Function(
            name=self._text(name),
            returns=returns,
            parameters=tuple(self._parameters(parameters)),
            defined=node.type == "function_definition",
            static="static" in words,
            at=declarator.start_byte,
        )

    def _parameters(self, listed: Node) -> Iterator[Parameter]:
        for each in listed.named_children:
            if each.type not in _PARAMETERS:
                continue
            text = self._text(each.child_by_field_name("type"))
            suffix = name = ""
            declarator = each.child_by_field_name("declarator")
            while declarator is not None and "declarator" in declarator.type:
                written = self._text(declarator)
                if declarator.type.endswith(("pointer_declarator",)):
                    suffix += "*"
                elif declarator.type.endswith("reference_declarator"):
                    suffix += "&&" if written.startswith("&&") else "&"
                elif declarator.type.endswith("array_declarator"):
                    suffix += "*"
                elif declarator.type == "variadic_declarator":
                    pass
                else:
                    suffix += "()"
                inner = declarator.child_by_field_name("declarator")
                declarator = inner or next(iter(declarator.named_children), None)
            if declarator is not None:
                name = self._text(declarator)
            if text == "void" and not suffix:
                continue
            constant = any(
                one.type == "type_qualifier" and self._text(one) == "const" for one in each.children
            )
            yield Parameter(
                ("const " if constant else "") + text + suffix,
                # a pack may be empty; one that takes all arguments is given one
                default=each.type.startswith("optional")
                or (each.type.startswith("variadic") and len(listed.named_children) > 1),
                name=name,
            )


_MEMBERS = {"function_definition", "field_declaration", "declaration"}
_PARAMETERS = {f"{kind}parameter_declaration" for kind in ("", "optional_", "variadic_")}
_NAMES = {"identifier", "field_identifier", "destructor_name", "type_identifier"}


def _bare(type_: str) -> str:
    """A type without `const` and `&`."""
    return type_.removeprefix("const ").rstrip("&")
