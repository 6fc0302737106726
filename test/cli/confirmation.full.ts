// Commands that ask before they change something, and the answers of a user on a terminal.
import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import path from "node:path";
import { after, before, describe, it } from "node:test";
import { stripVTControlCharacters } from "node:util";
import { addPerson, bind, viewerRole } from "../security/tree.ts";
import { type Caller, startCaller } from "./caller.ts";
import { type Dialog, noTerminal, runOnTerminal } from "./on-terminal.ts";

const [enter, ctrlC, ctrlD] = ["\r", "\u0003", "\u0004"];

/** The outcomes of a command that was not confirmed. */
const endings = {
  answered: { code: 1, last: /\ngatehouse: nothing was done\n$/ },
  interrupted: { code: 130, last: /\n$/ },
};

/** Answers that do not confirm, to each question. */
const refusals: [what: string, keys: string, ending: keyof typeof endings][] = [
  ["Enter", enter, "answered"],
  ["another word", `yesterday${enter}`, "answered"],
  ["Ctrl-C", ctrlC, "interrupted"],
  ["Ctrl-C after some letters", `y${ctrlC}`, "interrupted"],
  ["Ctrl-D", ctrlD, "answered"],
];

describe("a confirmation on a terminal", { skip: noTerminal }, () => {
  let caller: Caller;
  let files = "";

  before(async () => {
    caller = await startCaller();
    for (const name of ["first", "second", "shop", "updated"]) await createGroup(name);
    await createGroup("cart", "example.org/shop");
    const { server } = caller;
    await bind(server, server.groupUid, await addPerson(server, "kim", kim, server.groupUid), viewerRole.uid);
    files = path.join(caller.home, "files.yaml");
    writeFileSync(
      files,
      "kind: Organization\nname: example.org\n---\nkind: Group\nname: applied\n---\nkind: Group\nname: updated\ndescription: new\n",
    );
  });
  after(() => caller[Symbol.asyncDispose]());

  const createGroup = (name: string, parent = "example.org") =>
    caller.json("iam", "groups", "create", name, "--parent", parent);
  /** Returns what the commands may change. */
  const state = async () => [
    await caller.json("iam", "groups", "list", "--sort", "uid"),
    await caller.json("iam", "users", "list"),
  ];

  interface Asking {
    readonly args: () => readonly string[];
    readonly question: RegExp;
    /** The answer that confirms. */
    readonly keys: string;
    readonly done: RegExp;
  }

  const kim = "kim@example.org";

  const commands: Readonly<Record<string, Asking>> = {
    delete: {
      args: () => ["iam", "groups", "delete", "first", "second"],
      question: /Delete group first \([0-9a-f/]+\), second \([0-9a-f/]+\)\? \[y\/N\] $/,
      keys: `y${enter}`,
      done: /Deleted group .*\nDeleted group .*\n$/,
    },
    "delete --recursive": {
      args: () => ["iam", "groups", "delete", "example.org/shop", "--recursive"],
      question:
        /- 2 groups\r\nAll of this is deleted, and cannot be brought back\. Type example\.org\/shop to go on: $/,
      keys: `example.org/shop${enter}`,
      done: /Deleted group [0-9a-f/]+ with everything in it\.\n$/,
    },
    apply: {
      args: () => ["apply", "-f", files],
      question: /\+ group applied\r\n(?:.*\r\n)+Apply these changes\? \[y\/N\] $/,
      keys: `YES${enter}`,
      done: /Applied: 1 created, 1 updated, 0 deleted, 1 unchanged\n$/,
    },
    "users remove": {
      args: () => ["iam", "users", "remove", kim],
      question:
        /- 1 role binding\r\n {2}viewer at example\.org\r\nRemove user .*kim.* from the organization\? \[y\/N\] $/,
      keys: `y${enter}`,
      done: /Removed user .*kim.*: 1 role binding\.\n$/,
    },
  };

  for (const [name, { args, question, keys, done }] of Object.entries(commands)) {
    describe(`of ${name}`, () => {
      const refused =
        name === "delete --recursive" ? [...refusals, ["yes", `y${enter}`, "answered"] as const] : refusals;
      for (const [what, typed, ending] of refused)
        it(`changes nothing after ${what}`, async () => {
          const before = await state();
          const dialog: Dialog = { question, keys: typed };
          const { code, shown, restored } = await runOnTerminal(caller, args(), { dialog });
          assert.match(stripVTControlCharacters(shown), endings[ending].last);
          assert.deepEqual([code, restored], [endings[ending].code, true], shown);
          assert.deepEqual(await state(), before);
        });

      it("makes the announced change after the right answer", async () => {
        const before = await state();
        const { code, shown, restored } = await runOnTerminal(caller, args(), { dialog: { question, keys } });
        assert.deepEqual([code, restored], [0, true], shown);
        assert.match(stripVTControlCharacters(shown), done);
        assert.notDeepEqual(await state(), before);
      });
    });
  }

  it("confirming a plan changes nothing if the plan has changed since", async () => {
    await createGroup("shop");
    const meanwhile = () => createGroup("late", "example.org/shop");
    const { args, keys } = commands["delete --recursive"]!;
    const dialog = { question: /^- 1 group\r\n.* Type example\.org\/shop to go on: /, keys, meanwhile };
    const { code, shown } = await runOnTerminal(caller, args(), { dialog });
    assert.equal(code, 1, shown);
    assert.match(shown, /the resources have changed; make a new plan\n$/);
    const names = await caller.json("iam", "groups", "list", "--query", "items[].name");
    assert.ok(["shop", "late"].every((name) => names.includes(name)));
  });
});
