"""The host in Python, asked by lines of JSON: `talk.py component.wasm home project [planes]`. See tests/component/talks.js."""

import json, sys

from host import Host, Refusal, record

host, sessions = Host(*sys.argv[1:]), {}


def does(op, args, session="s", name=None, given=None):
    if op == "session":
        sessions[name or session] = host.call("[method]store.session", host.store, *args)
        return None
    of, resource = ("store", host.store) if session is None else ("session", sessions[session])
    args = [record(**arg) if isinstance(arg, dict) else arg for arg in args]
    args = [sessions[given], *args] if given else args
    pages = []
    answer = host.run(f"{of}.{op}", resource, *args, page=pages.append)
    if isinstance(answer, str):
        return pages if pages else answer
    sessions[name or "s"] = answer
    return host.call("[method]session.path", answer)


for line in sys.stdin:
    try:
        print(json.dumps({"answer": does(**json.loads(line))}), flush=True)
    except Refusal as refusal:
        print(json.dumps({"code": refusal.code, "message": str(refusal)}), flush=True)
