// OpenVEX 0.2.0: a statement for each advisory.
import { createHash } from "node:crypto";
import { eventTime, noteOf, otherIdsOf, type Published, timeText, vulnerabilityOf } from "../published.ts";
import { purlOf } from "../purl.ts";
import { eventWord, justificationOf, reasonWord } from "../statuses.ts";

const context = "https://openvex.dev/ns/v0.2.0";

/** The statement of an advisory; undefined when its state has no word in OpenVEX. */
export function toStatement({ advisory, event }: Published, distribution: string) {
  const status = statusOf(event);
  if (!status) return undefined;
  const { artifactName: name, artifactType: type, artifactArchitecture: architecture, componentType } = advisory;
  const fixed = event.type.case === "fixed" ? event.type.value.fixedVersion : "";
  const purl = purlOf({ name, type, architecture }, componentType, distribution, fixed);
  return {
    vulnerability: { name: vulnerabilityOf(advisory), aliases: otherIdsOf(advisory) },
    timestamp: timeText(eventTime(event)),
    products: [{ "@id": purl, identifiers: { purl } }],
    ...status,
  };
}

/** The status of an event. The notes keep which of several events of one status it was. */
function statusOf(event: Published["event"]) {
  const { type } = event;
  const note = noteOf(event);
  const word = eventWord(type);
  switch (type.case) {
    case "fixed":
    case "patched":
      return { status: "fixed" };
    case "falsePositiveDetermination": {
      const notes = reasonWord(type.value.type);
      return {
        ...{ status: "not_affected", justification: justificationOf(type.value.type) },
        ...(notes === "" ? {} : { status_notes: notes }),
        ...(note === "" ? {} : { impact_statement: note }),
      };
    }
    case "detection":
      return { status: "under_investigation" };
    case "analysisNotPlanned":
      return { status: "under_investigation", status_notes: word };
    case "truePositiveDetermination":
    case "pendingUpstreamFix":
    case "fixNotPlanned":
      return { status: "affected", status_notes: word, action_statement: note || actions[type.case] };
    default:
      return undefined;
  }
}

/** What to do about it, where nobody has said. */
const actions = {
  truePositiveDetermination: "No fix is available yet.",
  pendingUpstreamFix: "A fix is awaited from upstream.",
  fixNotPlanned: "No fix is planned.",
} as const;

/** A document of statements. Its id follows from what it says. */
export function toOpenvex(statements: readonly object[], author: string, time: string) {
  const digest = createHash("sha256")
    .update(JSON.stringify([author, time, statements]))
    .digest("hex");
  return {
    "@context": context,
    "@id": `https://openvex.dev/docs/public/vex-${digest}`,
    author,
    timestamp: time,
    version: 1,
    statements,
  };
}
