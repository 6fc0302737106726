// Lists what roles can allow.
import type { MessageInitShape } from "@bufbuild/protobuf";
import type {
  ListCapabilitiesRequest,
  ListCapabilitiesResponseSchema,
} from "../../../../gen/gatehouse/access/v1/access_pb.ts";
import type { Call } from "../../../pipeline/call.ts";
import type { ServiceContext } from "../../../resource/service-context.ts";
import { accessPages } from "../pages.ts";
import { capabilityDescriptions } from "./descriptions.ts";

/** Makes the function that lists the capabilities. */
export function listCapabilities(context: ServiceContext) {
  const pages = accessPages(context, "name");
  return (request: ListCapabilitiesRequest, call: Call): MessageInitShape<typeof ListCapabilitiesResponseSchema> => {
    const page = pages.read(request, call);
    const all = capabilityDescriptions();
    const ordered = page.descending ? all.toReversed() : all;
    const start = page.skip + (page.after === "" ? 0 : 1 + ordered.findIndex(({ name }) => name === page.after));
    const capabilities = ordered.slice(start, start + page.size);
    return {
      capabilities,
      nextPageToken: start + page.size < ordered.length ? pages.next(page, capabilities.at(-1)?.name) : "",
      totalCount: BigInt(all.length),
      skipped: page.skip,
    };
  };
}
