"""Runs the suite that comes with the Claude Agent SDK for Python over a store that a program of Node serves.

Arguments: the command of that program. It reads a request on each line of its input, and answers each by a line.
"""

import asyncio, importlib.util, json, subprocess, sys, types

# What the package itself imports is not needed for its suite, and large.
found = importlib.util.find_spec("claude_agent_sdk")
package = types.ModuleType("claude_agent_sdk")
package.__path__ = list(found.submodule_search_locations)
sys.modules["claude_agent_sdk"] = package

from claude_agent_sdk.testing import run_session_store_conformance

NAMES = {"project_key": "projectKey", "session_id": "sessionId", "subpath": "subpath"}
server = subprocess.Popen(sys.argv[1:], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
made = 0
asked = 0


def to_key(key):
    return {NAMES[name]: value for name, value in key.items()}


def from_listed(listed):
    return [{"session_id": one.pop("sessionId"), **one} for one in listed]


class Store:
    def __init__(self):
        global made
        made += 1
        self.number = made

    def call(self, method, *given):
        global asked
        asked += 1
        server.stdin.write(json.dumps({"store": self.number, "method": method, "given": given}) + "\n")
        server.stdin.flush()
        answer = json.loads(server.stdout.readline())
        if "error" in answer:
            raise RuntimeError(answer["error"])
        return answer.get("result")

    async def append(self, key, entries):
        self.call("append", to_key(key), entries)

    async def load(self, key):
        return self.call("load", to_key(key))

    async def list_sessions(self, project_key):
        return from_listed(self.call("listSessions", project_key))

    async def list_session_summaries(self, project_key):
        return from_listed(self.call("listSessionSummaries", project_key))

    async def delete(self, key):
        self.call("delete", to_key(key))

    async def list_subkeys(self, key):
        return self.call("listSubkeys", to_key(key))


asyncio.run(run_session_store_conformance(Store))
server.stdin.close()
if server.wait() != 0:
    sys.exit("the store could not be closed")
print(json.dumps({"stores": made, "calls": asked}))
