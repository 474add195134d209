"""The manifest: manifest.toml (rows, configurations) and cases/*.toml (the defects)."""
import dataclasses
import tomllib


class ManifestError(Exception):
    pass


@dataclasses.dataclass(frozen=True)
class NamedTest:
    """Tests that must fail: those of a GoogleTest program that the filter matches, or those ctest finds by `ctest`."""
    program: str | None = None
    filter: str | None = None
    ctest: str | None = None
    targets: tuple[str, ...] | None = None     # what to build; for a program it is the program

    def __str__(self):
        return f"{self.program} {self.filter}" if self.program else f"ctest -R {self.ctest}"


@dataclasses.dataclass(frozen=True)
class Case:
    id: str
    row: str
    file: str
    find: str
    replace: str
    why: str
    tests: tuple[NamedTest, ...]
    configuration: str = "dev"
    timeout: float = 20                # seconds, for each entry of `tests`
    control: bool = False


@dataclasses.dataclass(frozen=True)
class Configuration:
    name: str
    options: tuple[str, ...]           # for cmake
    finding: str | None = None         # regular expression: a sanitizer's report, which counts as an assertion
    environment: dict = dataclasses.field(default_factory=dict)  # of the tests


@dataclasses.dataclass(frozen=True)
class Manifest:
    rows: tuple[str, ...]              # every one of them needs a case
    configurations: dict[str, Configuration]
    failure: str                       # regular expression: how a test other than GoogleTest reports a failed assertion
    cases: tuple[Case, ...]

    @property
    def rows_without_case(self):
        return [row for row in self.rows if row not in {case.row for case in self.cases}]


def _make(kind, table, where, **more):
    """A `kind` from a TOML table; every field of the table must exist, have the right type and not be missing."""
    fields = {field.name: field for field in dataclasses.fields(kind)}
    for name, value in table.items():
        if name not in fields:
            raise ManifestError(f"{where}: there is no field '{name}'")
        expected = {bool: bool, float: (int, float), dict: dict}.get(fields[name].type)
        if name not in more and not (isinstance(value, expected) if expected else isinstance(value, (str, list))):
            raise ManifestError(f"{where}: '{name}' has the wrong type")
    arguments = {name: tuple(value) if isinstance(value, list) else value for name, value in table.items()} | more
    missing = [name for name, field in fields.items()
               if name not in arguments and dataclasses.MISSING is field.default is field.default_factory]
    if missing:
        raise ManifestError(f"{where}: {', '.join(missing)} missing")
    return kind(**arguments)


def _make_test(table, where):
    test = _make(NamedTest, table, where)
    if bool(test.program) == bool(test.ctest) or bool(test.program) != bool(test.filter):
        raise ManifestError(f"{where}: a test is either program and filter, or ctest")
    if test.program:
        if "-" in test.filter:
            raise ManifestError(f"{where}: the filter '{test.filter}' excludes tests; name those that must fail")
        return dataclasses.replace(test, targets=(test.program,))
    if test.targets is None:
        raise ManifestError(f"{where}: ctest needs 'targets', what to build; it may be empty")
    return test


def _make_case(table, where, configurations):
    where = f"{where}: {table.get('id', 'a case without id')}"
    if not table.get("tests"):
        raise ManifestError(f"{where}: tests missing")
    case = _make(Case, table, where, tests=tuple(_make_test(test, where) for test in table["tests"]))
    if not case.find or case.find == case.replace:
        raise ManifestError(f"{where}: the replacement must differ from a text that is not empty")
    if case.configuration not in configurations:
        raise ManifestError(f"{where}: there is no configuration '{case.configuration}'")
    return case


def load(folder):
    def read(file):
        try:
            return tomllib.loads(file.read_text(encoding="utf-8"))
        except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
            raise ManifestError(f"{file}: {error}") from error

    head = read(folder / "manifest.toml")
    configurations = {name: _make(Configuration, table, f"configuration {name}", name=name)
                      for name, table in head.pop("configuration", {}).items()}
    cases = []
    for file in sorted((folder / "cases").glob("*.toml")):
        tables = read(file)
        if set(tables) != {"case"}:
            raise ManifestError(f"{file.name}: holds [[case]] tables and nothing else")
        cases += [_make_case(table, file.name, configurations) for table in tables["case"]]
    manifest = _make(Manifest, head, "manifest.toml", configurations=configurations, cases=tuple(cases))
    seen = set()
    for case in cases:
        if case.id in seen:
            raise ManifestError(f"two cases are called {case.id}")
        seen.add(case.id)
    if sum(case.control for case in cases) != 1:
        raise ManifestError("exactly one case is the control, the known defect")
    return manifest
