// The descriptions of all capabilities.
import type { MessageInitShape } from "@bufbuild/protobuf";
import type { Capability } from "../../../../gen/chainguard/capabilities/capabilities_pb.ts";
import type { CapabilityDescriptionSchema } from "../../../../gen/gatehouse/access/v1/access_pb.ts";
import { once } from "../../../base/lazy.ts";
import { findCapabilityByName } from "../../../model/capabilities.ts";
import { enforced } from "./enforced.ts";
import { unenforced } from "./unenforced.ts";

/** Descriptions by service and name of the capability. */
type Descriptions = Readonly<Record<string, Readonly<Record<string, string>>>>;

/** A described capability. */
export type Description = MessageInitShape<typeof CapabilityDescriptionSchema> & { readonly name: string };

/** Returns the descriptions in the order of the names. */
export const capabilityDescriptions = once((): readonly Description[] =>
  [...describe(enforced, true), ...describe(unenforced, false)].sort((a, b) => (a.name < b.name ? -1 : 1)),
);

function describe(services: Descriptions, isEnforced: boolean): Description[] {
  return Object.entries(services).flatMap(([service, ofService]) =>
    Object.entries(ofService).flatMap(([name, description]) => {
      const info = findCapabilityByName(name);
      if (!info) return [];
      return {
        name,
        capability: info.number as Capability,
        description,
        service,
        enforced: isEnforced,
        internalOnly: info.internal,
      };
    }),
  );
}
