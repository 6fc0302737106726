import type { MetricsFormat } from "../../observe/metric-family.ts";

/** The formats by media type, the preferred one first. */
const mediaTypes: readonly (readonly [MetricsFormat, string])[] = [
  ["openmetrics", "application/openmetrics-text"],
  ["prometheus", "text/plain"],
];

/**
 * Returns the format that an Accept header prefers (RFC 9110 §12.5.1). OpenMetrics must be named: programs that send only a wildcard
 * read the older format.
 */
export function metricsFormatFor(accept = ""): MetricsFormat {
  const ranges = accept.split(",").map((range) => range.split(";").map((part) => part.trim().toLowerCase()));
  const qualityOf = (mediaType: string) =>
    Math.max(0, ...ranges.filter(([name]) => name === mediaType).map(([, ...parameters]) => qualityIn(parameters)));
  const best = mediaTypes.toSorted(([, a], [, b]) => qualityOf(b) - qualityOf(a))[0]!;
  return qualityOf(best[1]) > 0 ? best[0] : "prometheus";
}

function qualityIn(parameters: readonly string[]): number {
  const quality = parameters.find((parameter) => parameter.startsWith("q="));
  return quality === undefined ? 1 : Number(quality.slice(2)) || 0;
}
