// The writers by format, each loaded when it is first needed.
import { loader } from "../base/lazy.ts";
import type { ExportFormat } from "./exported.ts";
import type { Writer } from "./writing.ts";

const load = loader(import.meta.url);

const writers: Readonly<Record<ExportFormat, () => Writer>> = {
  osv: () => (load("./osv/write.ts") as typeof import("./osv/write.ts")).writeOsv,
  openvex: () => (load("./openvex/write.ts") as typeof import("./openvex/write.ts")).writeOpenvex,
  csaf: () => (load("./csaf/write.ts") as typeof import("./csaf/write.ts")).writeCsaf,
  secdb: () => (load("./secdb/write.ts") as typeof import("./secdb/write.ts")).writeSecdb,
};

/** The writer of a format. */
export function writerOf(format: ExportFormat): Writer {
  return writers[format]();
}
