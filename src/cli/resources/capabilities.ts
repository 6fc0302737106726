// Capabilities by their public names: `groups.list`, not CAP_IAM_GROUPS_LIST.
import type { JsonObject, JsonValue } from "@bufbuild/protobuf";
import { wrongUsage } from "../failure.ts";
import { list } from "./flags.ts";
import type { FlagValue, Options } from "./resource.ts";

/** Returns the enum names of the capabilities. */
export async function readCapabilities(value: FlagValue): Promise<JsonValue> {
  const { CapabilitySchema } = await import("../../../gen/chainguard/capabilities/capabilities_pb.ts");
  const { findCapabilityByName } = await import("../../model/capabilities.ts");
  return list(value).map((name) => {
    const info = findCapabilityByName(name);
    if (!info)
      throw wrongUsage(
        `there is no capability ${JSON.stringify(name)}`,
        "See `gatehouse iam roles capabilities list`.",
      );
    return CapabilitySchema.values.find(({ number }) => number === info.number)!.name;
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
