// `gatehouse iam access simulate`: what a change of a role binding or role would do.
import type { JsonObject } from "@bufbuild/protobuf";
import { Argument, type Command, Option } from "commander";
import { isJsonObject } from "../../base/json.ts";
import { completing } from "../client/completing.ts";
import { openSession, type Session, withClient } from "../client/session.ts";
import { printable } from "../escape.ts";
import { CommandFailure, wrongUsage } from "../failure.ts";
import type { Format } from "../output/formats.ts";
import type { View } from "../output/view.ts";
import { note, type Shell } from "../shell.ts";
import { changeCapabilities } from "./capabilities.ts";
import { groups } from "./groups.ts";
import { identities } from "./identities.ts";
import { textAt } from "./json.ts";
import { findUid } from "./lookup.ts";
import { capabilityNames, groupOption, namesOf } from "./names.ts";
import { roles } from "./roles.ts";

const outputs: readonly Format[] = ["table", "json", "yaml", "none"];

const effectView: View = {
  noun: "effects",
  columns: [
    { title: "effect", value: "effect" },
    { title: "identity", value: "identity" },
    { title: "group", value: "group" },
    { title: "below", value: "below" },
    { title: "capabilities", value: "capabilities" },
  ],
};

/** How many capabilities a row names. */
const maxNamed = 4;

/** Adds the commands to `gatehouse iam access`. */
export function addSimulateCommands(access: Command, shell: Shell): void {
  const simulate = access
    .command("simulate")
    .description(
      "what a change would do, without making it: create-binding, update-binding, delete-binding, and so on",
    );
  addCreateBinding(simulate, shell);
  addUpdateBinding(simulate, shell);
  addDeleteBinding(simulate, shell);
  addUpdateRole(simulate, shell);
  addDeleteRole(simulate, shell);
}

function addCreateBinding(simulate: Command, shell: Shell): void {
  const command = simulate
    .command("create-binding")
    .description("what a new role binding would do")
    .addOption(identityOption().makeOptionMandatory())
    .addOption(roleOption().makeOptionMandatory())
    .addOption(groupOption("--parent", "the group").makeOptionMandatory());
  act(command, shell, async (session, _args, { identity = "", role = "", parent = "" }) => ({
    createRoleBinding: {
      parent: await findUid(session, groups, parent),
      roleBinding: { ...(await identityOf(session, identity)), ...(await roleOf(session, role)) },
    },
  }));
}

function addUpdateBinding(simulate: Command, shell: Shell): void {
  const command = simulate
    .command("update-binding")
    .description("what another identity or role in a role binding would do")
    .argument("<uid>", "the role binding")
    .addOption(identityOption())
    .addOption(roleOption());
  act(command, shell, async (session, [uid = ""], { identity, role }) => {
    if (identity === undefined && role === undefined)
      throw wrongUsage("there is nothing to change", "Give --identity or --role.");
    return {
      updateRoleBinding: {
        roleBinding: {
          uid,
          ...(identity !== undefined && (await identityOf(session, identity))),
          ...(role !== undefined && (await roleOf(session, role))),
        },
      },
    };
  });
}

function addDeleteBinding(simulate: Command, shell: Shell): void {
  const command = simulate
    .command("delete-binding")
    .description("what the deletion of a role binding would do")
    .argument("<uid>", "the role binding");
  act(command, shell, async (_session, [uid = ""]) => ({ deleteRoleBinding: { uid } }));
}

function addUpdateRole(simulate: Command, shell: Shell): void {
  const command = simulate
    .command("update-role")
    .description("what other capabilities of a role would do")
    .addArgument(roleArgument())
    .addOption(capabilityOption("--add-capabilities <names>", "capabilities to add"))
    .addOption(capabilityOption("--remove-capabilities <names>", "capabilities to remove"));
  act(command, shell, async (session, [role = ""], options) => {
    const { RolesService } = await import("../../../gen/chainguard/platform/iam/v2beta1/roles_pb.ts");
    const uid = await findUid(session, roles, role);
    const stored = await session.call(RolesService.method.getRole, { uid });
    const { addCapabilities = "", removeCapabilities = "" } = options;
    const { capabilities = [] } = await changeCapabilities(stored, { addCapabilities, removeCapabilities });
    return { updateRole: { uid, capabilities } };
  });
}

function addDeleteRole(simulate: Command, shell: Shell): void {
  const command = simulate
    .command("delete-role")
    .description("what the deletion of a role would do")
    .addArgument(roleArgument());
  act(command, shell, async (session, [role = ""]) => ({
    deleteRole: { uid: await findUid(session, roles, role) },
  }));
}

interface Flags {
  readonly identity?: string;
  readonly role?: string;
  readonly parent?: string;
  readonly addCapabilities?: string;
  readonly removeCapabilities?: string;
}

type MakeChange = (session: Session, args: readonly string[], options: Flags) => Promise<JsonObject>;

/** Runs a command: sends the change that `make` returns, and prints what it would do. An obstacle is a failure of the command. */
function act(command: Command, shell: Shell, make: MakeChange): void {
  withClient(command, outputs).action(async (...given: unknown[]) => {
    // Commander passes the arguments, then the flags, then the command.
    const args = given.slice(0, -2) as string[];
    using session = await openSession(shell, command);
    const { AccessService } = await import("../../../gen/gatehouse/access/v1/access_pb.ts");
    const change = await make(session, args, command.opts<Flags>());
    const reply = await session.call(AccessService.method.simulateChange, change);
    const obstacles = listOf(reply.obstacles);
    if (session.output.isPlain) {
      await session.output.list(effectView, listOf(reply.effects).flatMap(rowsOf));
      if (reply.truncated === true) note(shell, "There are more effects than shown.");
    } else await session.output.one(effectView, reply);
    const [first] = obstacles;
    if (!first) return;
    throw new CommandFailure(`the change would be rejected: ${printable(textAt(first, "message"))}`, {
      hint: obstacles
        .slice(1)
        .map((obstacle) => textAt(obstacle, "message"))
        .join("\n"),
    });
  });
}

/** Returns the rows of an effect: what is gained, lost and kept. */
function rowsOf({ identity, groupUid, groupName, groupsBelow, gained, lost, kept }: JsonObject): JsonObject[] {
  const named = isJsonObject(identity) ? textAt(identity, "name") || textAt(identity, "uid") : "";
  const place = { identity: named, group: groupName || groupUid || "", below: String(groupsBelow ?? 0) };
  return Object.entries({ gains: gained, loses: lost, keeps: kept }).flatMap(([effect, names]) => {
    const list = Array.isArray(names) ? names.map(String) : [];
    const more = list.length > maxNamed ? ` (+${list.length - maxNamed})` : "";
    return list.length === 0 ? [] : [{ effect, ...place, capabilities: list.slice(0, maxNamed).join(" ") + more }];
  });
}

function listOf(value: unknown): JsonObject[] {
  return Array.isArray(value) ? value : [];
}

async function identityOf(session: Session, text: string) {
  return { identityUid: await findUid(session, identities, text) };
}

async function roleOf(session: Session, text: string) {
  return { roleUid: await findUid(session, roles, text) };
}

function identityOption(): Option {
  return completing(new Option("--identity <name|uid>", "the identity"), namesOf(identities));
}

function roleOption(): Option {
  return completing(new Option("--role <name|uid>", "the role"), namesOf(roles));
}

function roleArgument(): Argument {
  return completing(new Argument("<role>", "the role"), namesOf(roles));
}

function capabilityOption(flags: string, description: string): Option {
  return completing(new Option(flags, description), capabilityNames);
}
