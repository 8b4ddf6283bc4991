"""The host in Python, asked by lines of JSON: `talk.py component.wasm home project [planes]`. See tests/component/talks.js."""

import json, sys

from host import Host, Refusal, record

host, sessions = Host(*sys.argv[1:]), {}


def recorded(said):
    recorder = host.call("[constructor]recorder", of="transcripts")
    written = b"".join(host.call("[method]recorder.feed", recorder, part.encode(), of="transcripts") for part in said)
    return (written + host.call("[method]recorder.end", recorder, of="transcripts")).decode()


def transcripts(op, args):
    """Of transcripts: their marks, words on their way into one, and how one is read."""
    if op == "record":
        return recorded(args)
    if op == "read":
        return host.call(op, args[0].encode(), of="transcripts")
    args = [record(now_ms=arg, offset_minutes=0, entropy=(0, 0, 0, 0)) if isinstance(arg, int) else arg for arg in args]
    return host.call(op, *args, of="transcripts")


def does(op, args, session="s", name=None, given=None, output=None, of=None):
    if of:
        return transcripts(op, args)
    host.output, host.handed = (output or "").encode(), b""
    kind, resource = ("store", host.store) if session is None else ("session", sessions[session])
    args = [record(**arg) if isinstance(arg, dict) else arg for arg in args]
    args = [sessions[given], *args] if given else args
    pages = []
    answer = host.run(f"{kind}.{op}", resource, *args, page=pages.append)
    if isinstance(answer, str):
        return pages if pages else answer or host.handed.decode()
    sessions[name or "s"] = answer
    return host.call("[method]session.path", answer)


for line in sys.stdin:
    try:
        print(json.dumps({"answer": does(**json.loads(line))}), flush=True)
    except Refusal as refusal:
        print(json.dumps({"code": refusal.code, "message": str(refusal)}), flush=True)
