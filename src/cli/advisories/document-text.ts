// The text of a file as a document.
import { parse as parseYaml } from "yaml";
import { BadDocument } from "./document.ts";

/**
 * Parses JSON or, for files of that name and for that format, YAML. In YAML every scalar is a text: versions such as 1.10
 * must not become numbers.
 */
export function parseText(name: string, text: string, format: string): unknown {
  const content = text.startsWith("\uFEFF") ? text.slice(1) : text;
  const isNamedJson = /\.json$/i.test(name);
  const isYaml = /\.ya?ml$/i.test(name) || (format === "yaml" && !isNamedJson);
  // Nothing says that it is one of them.
  const isUnknown = format === "auto" && !isNamedJson;
  const json = isUnknown ? "JSON (osv, secdb, openvex, csaf), and by its name no YAML (.yaml, .yml)" : "JSON";
  try {
    return isYaml ? parseYaml(content, { schema: "failsafe", maxAliasCount: 100 }) : JSON.parse(content);
  } catch (error) {
    const [reason = ""] = (error instanceof Error ? error.message : String(error)).split("\n");
    throw new BadDocument(`it is no ${isYaml ? "YAML" : json}: ${reason.replace(/:$/, "").slice(0, 200)}`);
  }
}
