// `gatehouse iam roles capabilities`: the capabilities that roles consist of. The program contains the list.
import type { Command } from "commander";
import { openSession, withList } from "../client/session.ts";
import { rowFormats } from "../output/formats.ts";
import type { View } from "../output/view.ts";
import type { Shell } from "../shell.ts";

const view: View = {
  noun: "capabilities",
  id: "name",
  columns: [
    { title: "capability", value: "name" },
    { title: "constant", value: "constant", wide: true },
    { title: "held by", value: "roles" },
  ],
};

/** Adds the command to those of roles. */
export function addCapabilityCommands(roles: Command, shell: Shell): void {
  const list = roles
    .command("capabilities")
    .description("capabilities of roles")
    .command("list")
    .description("list all capabilities, and the built-in roles that have each");
  withList(list, rowFormats).action(async () => {
    using session = await openSession(shell, list);
    await session.output.list(view, session.output.arrange(view, await capabilities(), "as it is"));
  });
}

async function capabilities() {
  const { CapabilitySchema } = await import("../../../gen/chainguard/capabilities/capabilities_pb.ts");
  const { allCapabilities } = await import("../../model/capabilities.ts");
  const { builtInRoles } = await import("../../authz/built-in-roles.ts");
  const constants = new Map(CapabilitySchema.values.map(({ number, name }) => [number, name]));
  return allCapabilities()
    .filter(({ internal }) => !internal)
    .map(({ name, number }) => ({
      name,
      constant: constants.get(number) ?? "",
      roles: builtInRoles.filter((role) => role.capabilities.some((held) => held === number)).map((role) => role.name),
    }));
}
