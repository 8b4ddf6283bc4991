"""A host of leftoff's component: a store below a folder, in about a hundred lines. See crates/component/wit/."""

import base64, hashlib, json, os, secrets, shutil, socket, stat, time, unicodedata
from importlib.metadata import version
from pathlib import Path

from wasmtime import Engine, Store
from wasmtime.component import Component, Linker, Record, Variant

CODES = {FileNotFoundError: "not_found", FileExistsError: "already_exists", PermissionError: "permission_denied", IsADirectoryError: "not_a_file", NotADirectoryError: "not_a_folder"}
NAME = secrets.token_hex(16)
DONE = Variant("done")


class Refusal(Exception):
    """What leftoff refuses: its code, and a sentence."""

    def __init__(self, error):
        super().__init__(error.message)
        self.code = error.code


def record(**fields):
    made = Record()
    made.__dict__.update({name.replace("_", "-"): value for name, value in fields.items()})
    return made


def pieces(data):
    """Bytes as text where they are UTF-8, as far as that is worth it."""
    made = []
    while len(made) < 16:
        try:
            return [*made, data.decode()]
        except UnicodeDecodeError as error:
            made += [data[: error.start].decode(), data[error.start : error.end]]
            data = data[error.end :]
    return [*made, data]


def bytes_of(content):
    return content.encode() if isinstance(content, str) else content


def failed(code, message):
    return Variant("failed", record(code=code, message=message, written=None, unconfirmed=False, origin=None))


def stat_of(path):
    try:
        found = os.lstat(path)
    except (FileNotFoundError, NotADirectoryError):
        return None
    kind = "file" if stat.S_ISREG(found.st_mode) else "folder" if stat.S_ISDIR(found.st_mode) else "other"
    changed = found.st_ctime_ns // 1000
    return record(kind=kind, size=found.st_size, modified_us=found.st_mtime_ns // 1000, changed_us=changed, file=record(number=found.st_ino, made_us=changed))


def lease_of(pid):
    """By these words a process is told from a later one of the same number; of one that is gone there are none."""
    try:
        words = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
        boot = Path("/proc/sys/kernel/random/boot_id").read_text().strip()
    except FileNotFoundError:
        return None
    return record(pid=pid, host=socket.gethostname(), boot=boot, start=words[19], program="host.py", since=None)


def is_gone(lease):
    there = lease_of(lease.pid)
    return lease.host == socket.gethostname() and (not there or (there.boot, there.start) != (lease.boot, lease.start))


def compiled(engine, component):
    """The file of what this wasmtime compiled a component to: kept beside it, for that takes seconds."""
    kept = component.with_suffix(f".{version('wasmtime')}.cwasm")
    if not kept.exists() or kept.stat().st_mtime < component.stat().st_mtime:
        kept.write_bytes(Component.from_file(engine, str(component)).serialize())
    return kept


class Host:
    def __init__(self, component, home, project, planes=None):
        """`planes`: the file of a vocabulary, by which is counted."""
        engine = Engine()
        self.wasm = Store(engine)
        self.core = Linker(engine).instantiate(self.wasm, Component.deserialize_file(engine, str(compiled(engine, Path(component)))))
        self.funcs, self.vocabularies = {}, {}
        self.output, self.handed = b"", b""  # the output that is saved, JSON, and what was read of one
        project = os.path.realpath(project)
        self.roots = {"home": home, "project": project, "outside": "/"}
        known = planes and self.call("[static]vocabulary.from-base64", base64.b64encode(Path(planes).read_bytes()).decode(), of="protocol")
        if known:
            self.vocabularies[self.call("[method]vocabulary.encoding", known, of="protocol")] = known
        setup = dict(home=home, project=project, normalProject=project, user=str(Path.home()), separator="/", idleMs=30 * 60_000)
        self.store = self.call("[static]store.open", json.dumps(setup), known, "off")

    def call(self, name, *args, of="store"):
        if name not in self.funcs:
            index = self.core.get_export_index(self.wasm, f"leftoff:core/{of}@0.2.0")
            self.funcs[name] = self.core.get_func(self.wasm, self.core.get_export_index(self.wasm, name, index))
        answer = self.funcs[name](self.wasm, *args)
        if isinstance(answer, Variant):  # where an answer could be taken for an error
            tag, answer = answer.tag, answer.payload
            if tag == "err":
                raise Refusal(answer)
        if isinstance(answer, Record) and hasattr(answer, "code"):
            raise Refusal(answer)
        return answer

    def run(self, method, resource, *args, page=lambda text: None):
        """Drives an operation to its end: what it answers, a text or a session."""
        operation, answers = self.call(f"[method]{method}", resource, *args), []
        try:
            while True:
                entropy = tuple(secrets.randbits(64) for _ in range(4))
                stamp = record(now_ms=time.time_ns() // 1_000_000, offset_minutes=time.localtime().tm_gmtoff // 60, entropy=entropy)
                step = self.call("[method]operation.next", operation, stamp, answers)
                if not isinstance(step, list):
                    return step
                for need in step:
                    if need.tag == "page":
                        page(need.payload)
                answers = [self.answer(need.tag, need.payload) for need in step]
        finally:
            operation.drop(self.wasm)

    def at(self, file):
        return Path(file.root.payload or self.roots[file.root.tag], file.path)

    def answer(self, tag, asked):
        """How each need is answered that has a method of its name."""
        try:
            return getattr(self, f"on_{tag}", self.on_others)(asked)
        except OSError as error:
            return failed(CODES.get(type(error), "storage_failed"), str(error))

    def on_others(self, asked):
        return failed("no_counter", "this host counts by its vocabularies alone")

    def on_done(self, asked):
        return DONE

    on_turn = on_leave = on_page = on_link = on_done

    def on_read(self, asked):
        try:
            with open(self.at(asked.file), "rb") as file:
                file.seek(asked.start)
                return Variant("content", pieces(file.read(-1 if asked.end is None else asked.end - asked.start)))
        except FileNotFoundError:
            return Variant("content", None)

    def on_stat(self, file):
        return Variant("stat", stat_of(self.at(file)))

    def on_entries(self, asked):
        folder = self.at(asked.folder)
        files = lambda path: [stat_of(path / name) for name in asked.names] if path.is_dir() else None
        found = [record(name=path.name, kind=stat_of(path).kind, files=files(path)) for path in sorted(folder.iterdir())] if folder.is_dir() else None
        return Variant("entries", found)

    def written(self, asked, path, mode, durable):
        if asked.within is not None and not Path(self.at(record(root=asked.file.root, path=asked.within))).is_dir():
            raise FileNotFoundError("the folder is not there")
        path.parent.mkdir(parents=True, exist_ok=True)
        with open(path, mode, buffering=0) as file:
            file.write(bytes_of(asked.content))
            if durable:
                os.fsync(file.fileno())
            return file.tell()

    def on_append(self, asked):
        return Variant("end", self.written(asked, self.at(asked.file), "ab", asked.durable))

    def on_replace(self, asked, durable=True):
        path = self.at(asked.file)
        beside = path.with_name(f".{path.name}.{os.getpid()}.{secrets.token_hex(8)}.tmp")
        self.written(asked, beside, "wb", durable)
        os.replace(beside, path)
        return DONE

    def on_given(self, end):
        return Variant("content", pieces(self.output[:end]))

    def on_put(self, asked):
        around = bytes_of(asked.content)
        whole = around[: asked.at] + self.output + around[asked.at :]
        return self.on_replace(record(file=asked.file, content=whole, within=None), durable=False)

    def on_hand(self, asked):
        try:
            with open(self.at(asked.file), "rb") as file:
                file.seek(asked.start)
                self.handed = file.read(asked.end - asked.start)
                return Variant("end", len(self.handed))
        except FileNotFoundError:
            return Variant("content", None)

    on_keep = on_replace

    def on_remove(self, file):
        path = self.at(file)
        shutil.rmtree(path) if path.is_dir() and not path.is_symlink() else path.unlink(missing_ok=True)
        return DONE

    def on_move(self, asked):
        if os.path.lexists(self.at(asked.to)):
            raise FileExistsError("it already exists")
        self.at(asked.to).parent.mkdir(parents=True, exist_ok=True)
        os.rename(self.at(getattr(asked, "from")), self.at(asked.to))
        return DONE

    def on_copy(self, asked):
        source, to = self.at(getattr(asked, "from")), self.at(asked.to)
        copy = lambda one, other: other if asked.missing and os.path.exists(other) else shutil.copy2(one, other)
        if source.is_dir():
            shutil.copytree(source, to, copy_function=copy, dirs_exist_ok=True)
        else:
            to.parent.mkdir(parents=True, exist_ok=True)
            copy(source, to)
        return Variant("end", sum(path.stat().st_size for path in [to, *to.rglob("*")] if path.is_file()))

    def on_hash(self, asked):
        data = self.at(asked.file).read_bytes()[asked.start : asked.end]
        return Variant("text", hashlib.sha256(data).hexdigest()) if len(data) == asked.end - asked.start else DONE

    def on_wait(self, ms):
        time.sleep(ms / 1000)
        return DONE

    def on_git(self, asked):
        return Variant("ran", None)

    def on_out(self, value):
        return Variant("text", "{}")

    def on_document(self, asked):
        """An agent's file that is one document: those that are databases this host cannot read."""
        document = record(pieces=pieces(Path(asked.path).read_bytes()), is_alone=True, failure=None) if getattr(asked, "is-first") else None
        return Variant("document", document)

    def on_real(self, path):
        return Variant("text", os.path.realpath(path) if os.path.isabs(path) else path)

    def on_normal(self, path):
        return Variant("text", unicodedata.normalize("NFC", path))

    def on_unmarked(self, text):
        letters = unicodedata.normalize("NFKD", text)
        return Variant("text", "".join(letter for letter in letters if not unicodedata.category(letter).startswith("M")))

    def on_process(self, _):
        return Variant("process", record(**{"lease": lease_of(os.getpid()), "name": NAME, "is_alone": False}))

    def on_gone(self, leases):
        return Variant("flags", [is_gone(lease) for lease in leases])

    def on_vocabulary(self, encoding):
        return Variant("vocabulary", self.vocabularies[encoding]) if encoding in self.vocabularies else self.on_others(encoding)
