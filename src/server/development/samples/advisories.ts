// Generates advisories from a seed, for the development server and for benchmarks.

import { createHash } from "node:crypto";
import { create, type MessageInitShape } from "@bufbuild/protobuf";
import {
  type Advisory,
  type AdvisoryEventSchema,
  AdvisorySchema,
  ReviewState,
  Severity_Type,
} from "../../../../gen/chainguard/platform/vulnerabilities/v2beta1/advisories_pb.ts";
import { publicIdOf } from "../../../advisories/public-id.ts";
import { toTimestamp } from "../../../aip/timestamps.ts";
import { dayMs } from "../../../base/clock.ts";

const artifacts = ["go", "nginx", "node", "php", "postgres", "python", "redis", "ruby"];
const components = ["openssl", "zlib", "libxml2", "expat", "golang.org/x/net", "lodash", "stdlib"];

const firstDay = Date.UTC(2026, 0, 1);

/** Generates advisories. The same seed gives the same ones, and a longer list starts like a shorter one. */
export function generateAdvisories(seed: string, count: number): Advisory[] {
  return Array.from({ length: count }, (_, i) => generateAdvisory(`${seed} ${i}`, i));
}

function generateAdvisory(seed: string, index: number): Advisory {
  const bytes = createHash("sha256").update(seed).digest();
  const pick = <T>(list: readonly T[], at: number) => list[bytes[at]! % list.length]!;
  const letters = bytes.subarray(0, 12).values();
  const component = pick(components, 12);
  const createTime = toTimestamp(firstDay + index * dayMs);
  return create(AdvisorySchema, {
    advisoryId: publicIdOf(letters),
    author: "sample",
    artifactName: pick(artifacts, 13),
    artifactType: "apk",
    artifactArchitecture: pick(["x86_64", "aarch64"], 14),
    componentName: component,
    componentLocation: `/usr/lib/${component}`,
    componentType: pick(["go-module", "npm", "apk"], 15),
    aliases: [`CVE-2026-${String(10_000 + index).padStart(5, "0")}`],
    severities: [{ type: Severity_Type.CVSS_V3, score: "CVSS:3.1/AV:N/AC:L/PR:N/UI:N/S:U/C:N/I:N/A:H" }],
    events: generateEvents(index, bytes[16]! % 3),
    createTime,
    updateTime: createTime,
  });
}

/** A detection; then a fix, nothing, or a decision that is not approved yet. */
function generateEvents(index: number, kind: number): MessageInitShape<typeof AdvisoryEventSchema>[] {
  const event = (day: number, reviewState: ReviewState) => ({
    author: "sample",
    reviewState,
    createTime: toTimestamp(firstDay + (index + day) * dayMs),
  });
  const detection = { scanner: "grype", componentVersion: "1.0.0" };
  return [
    {
      ...event(0, ReviewState.APPROVED),
      type: { case: "detection", value: { type: { case: "scanv1", value: detection } } },
    },
    ...(kind === 0
      ? [{ ...event(1, ReviewState.APPROVED), type: { case: "fixed", value: { fixedVersion: "1.0.1-r0" } } } as const]
      : []),
    ...(kind === 1
      ? [{ ...event(2, ReviewState.PENDING), type: { case: "fixNotPlanned", value: { note: "" } } } as const]
      : []),
  ];
}
