// Capabilities by their public names: `groups.list`, not CAP_IAM_GROUPS_LIST.
import type { JsonObject, JsonValue } from "@bufbuild/protobuf";
import type { CapabilityInfo } from "../../model/capabilities.ts";
import { unknownValue } from "../failure.ts";
import { list } from "./flags.ts";
import type { FlagValue, Options } from "./resource.ts";

/** Returns the enum names of the capabilities. */
export async function readCapabilities(value: FlagValue): Promise<JsonValue> {
  const { CapabilitySchema } = await import("../../../gen/chainguard/capabilities/capabilities_pb.ts");
  const found = await findCapabilities(list(value));
  return found.map((info) => CapabilitySchema.values.find(({ number }) => number === info.number)!.name);
}

/** Returns the capabilities with these names. Wrong usage for a name that none has. */
export async function findCapabilities(names: readonly string[]): Promise<CapabilityInfo[]> {
  const { allCapabilities, findCapabilityByName } = await import("../../model/capabilities.ts");
  return names.map((name) => {
    const info = findCapabilityByName(name);
    if (info) return info;
    const known = allCapabilities().flatMap((each) => (each.internal ? [] : [each.name]));
    const message = `there is no capability ${JSON.stringify(name)}`;
    throw unknownValue(message, name, known, "See `gatehouse iam roles capabilities list`.");
  });
}

/** Adds and removes capabilities of a role, by its flags. */
export async function changeCapabilities(body: JsonObject, options: Options): Promise<JsonObject> {
  const added = (await readCapabilities(options.addCapabilities ?? [])) as string[];
  const removed = (await readCapabilities(options.removeCapabilities ?? [])) as string[];
  if (added.length + removed.length === 0) return body;
  const kept = [...((body.capabilities as string[] | undefined) ?? []), ...added].filter(
    (name) => !removed.includes(name),
  );
  return { ...body, capabilities: [...new Set(kept)] };
}
