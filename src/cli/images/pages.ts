// Reads all pages of a list about images, with what is the same on each of them.
import type { DescMethodUnary, JsonObject } from "@bufbuild/protobuf";
import type { Session } from "../client/session.ts";
import { textAt } from "../resources/json.ts";

const pageSize = 200;

/** All items of a list, and the last page, which also says what counts for the whole list. */
export interface AllPages {
  readonly rows: JsonObject[];
  readonly last: JsonObject;
}

/** Reads a list to its end. `field` is the name of its items. */
export async function readAllPages(
  session: Session,
  method: DescMethodUnary,
  field: string,
  request: JsonObject,
): Promise<AllPages> {
  const rows: JsonObject[] = [];
  let last: JsonObject = {};
  let pageToken = "";
  do {
    last = await session.call(method, { ...request, pageSize, ...(pageToken !== "" && { pageToken }) });
    rows.push(...((last[field] as JsonObject[] | undefined) ?? []));
    pageToken = textAt(last, "nextPageToken");
  } while (pageToken !== "");
  return { rows, last };
}

/** Returns a sentence about how complete the packages of an image are. */
export function completeness({ state, packageCount, notChecked, reasons }: JsonObject): string {
  if (state === "CHECK_STATE_UNKNOWN") return "There is no SBOM of this image, so nothing is known of its packages.";
  const left = Number(notChecked ?? 0);
  const first = Array.isArray(reasons) ? (reasons[0] as JsonObject | undefined) : undefined;
  const why = first ? `: ${reasonText(first.reason)} (${JSON.stringify(first.example ?? "")}, …)` : "";
  const states: Readonly<Record<string, string>> = {
    CHECK_STATE_PENDING: " Some are still to be read or compared.",
    CHECK_STATE_PARTIAL: " Some SBOMs are missing or could not be read: see `gatehouse images sboms list`.",
  };
  const checked = `${Number(packageCount ?? 0)} packages${left > 0 ? `, ${left} not checked${why}` : ""}.`;
  return checked + (states[String(state)] ?? "");
}

function reasonText(reason: unknown): string {
  const texts: Readonly<Record<string, string>> = {
    NOT_CHECKED_REASON_INVALID_PURL: "the package URL is not valid",
    NOT_CHECKED_REASON_LONG_PURL: "the package URL is too long",
  };
  return texts[String(reason)] ?? "no package URL";
}
