// Reads CycloneDX JSON 1.4 to 1.7 (ECMA-424).
import { BadDocument } from "../advisories/document.ts";
import { isJsonObject, type JsonObject, scalarText } from "../base/json.ts";
import { Components, type OperatingSystem } from "./components.ts";
import type { Sbom } from "./sbom.ts";

/** Types of components that are packages. Others, such as files, count only with a package URL. */
const packageTypes: ReadonlySet<string> = new Set([
  "application",
  "container",
  "device-driver",
  "firmware",
  "framework",
  "library",
  "platform",
]);

/** The members that are read, wherever they are. */
export const cycloneDxMembers =
  "bomFormat specVersion metadata tools component components type group name version purl".split(" ");

/** Returns whether a document is of this format. */
export function isCycloneDx({ bomFormat }: JsonObject): boolean {
  return bomFormat === "CycloneDX";
}

/** Reads a document. */
export function readCycloneDx(document: JsonObject): Omit<Sbom, "isSigned"> {
  const version = scalarText(document.specVersion);
  if (!/^1\.[4-7]$/.test(version))
    throw new BadDocument(`is CycloneDX ${version.slice(0, 20)}, but only 1.4 to 1.7 can be read`);
  const whole = isJsonObject(document.metadata) ? document.metadata.component : undefined;
  const all = allComponents(whole, document.components);
  const components = new Components(systemIn(all));
  for (const component of all) {
    const purls = purlsOf(component);
    const isPackage = component !== whole && packageTypes.has(scalarText(component.type));
    if (purls.length > 0 || isPackage) components.add(titleOf(component), purls);
  }
  return { format: `CycloneDX ${version}`, tool: toolOf(document.metadata), ...components.found() };
}

function purlsOf({ purl }: JsonObject): string[] {
  return typeof purl === "string" && purl !== "" ? [purl] : [];
}

function titleOf({ group, name }: JsonObject): string {
  return [scalarText(group), scalarText(name)].filter((text) => text !== "").join("/");
}

/** Returns all components with those inside of others. The one that the document is about may be a package, such as a Go program. */
function allComponents(whole: unknown, components: unknown): JsonObject[] {
  const found: JsonObject[] = [];
  const open: unknown[] = [components, whole === undefined ? [] : [whole]];
  while (open.length > 0) {
    const list = open.pop();
    if (!Array.isArray(list)) continue;
    for (const component of list) {
      if (!isJsonObject(component)) throw new BadDocument("has a component that is not an object");
      found.push(component);
      if (component.components !== undefined) open.push(component.components);
    }
  }
  return found;
}

function systemIn(components: readonly JsonObject[]): OperatingSystem | undefined {
  const system = components.find(({ type }) => type === "operating-system");
  const [name, version] = [scalarText(system?.name), scalarText(system?.version)];
  return name === "" || version === "" ? undefined : { name, version };
}

/** Tools are a list of tools up to 1.4, and since 1.5 also an object with components. */
function toolOf(metadata: unknown): string {
  const tools = isJsonObject(metadata) ? metadata.tools : undefined;
  const list = isJsonObject(tools) ? tools.components : tools;
  const [tool] = Array.isArray(list) ? list.filter(isJsonObject) : [];
  return tool ? [scalarText(tool.name), scalarText(tool.version)].filter((text) => text !== "").join(" ") : "";
}
