// Runs programs in TypeScript as if gatehouse-client were installed: from its sources, without a build.
import { globSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";

const root = path.resolve(import.meta.dirname, "../../..");

/** A folder for programs. */
export interface ProgramFolder extends Disposable {
  readonly path: string;
  /** The options of node for programs that import gatehouse-client. */
  readonly nodeOptions: readonly string[];
  /** Writes a file. Returns its path. */
  write(name: string, text: string): string;
}

/** Makes a folder in which `gatehouse-client/NAME` is a module of the sources. */
export function newProgramFolder(): ProgramFolder {
  const folder = mkdtempSync(path.join(tmpdir(), "gatehouse-programs-"));
  const write = (name: string, text: string) => {
    const file = path.join(folder, name);
    mkdirSync(path.dirname(file), { recursive: true });
    writeFileSync(file, text);
    return file;
  };
  symlinkSync(path.join(root, "node_modules"), path.join(folder, "node_modules"));
  write("package.json", '{ "type": "module" }');
  write("client/node.ts", reexport("packages/client/src/node.ts"));
  const files = globSync("{chainguard,gatehouse}/**/*_pb.ts", { cwd: path.join(root, "gen") });
  for (const [name, own] of Map.groupBy(files, (file) => path.dirname(file)))
    write(`client/${name}.ts`, own.map((file) => reexport(`gen/${file}`)).join(""));
  write("tsconfig.json", JSON.stringify(compilerConfig(folder)));
  const hook = write("hook.js", hookText(folder));
  return {
    path: folder,
    nodeOptions: ["--import", hook],
    write,
    [Symbol.dispose]: () => rmSync(folder, { recursive: true, force: true }),
  };
}

function reexport(file: string): string {
  return `export * from ${JSON.stringify(path.join(root, file))};\n`;
}

function hookText(folder: string): string {
  const client = JSON.stringify(`${new URL(`file://${folder}/client/`)}`);
  return `import { registerHooks } from "node:module";
registerHooks({
  resolve(specifier, context, next) {
    const own = "gatehouse-client/";
    return next(specifier.startsWith(own) ? ${client} + specifier.slice(own.length) + ".ts" : specifier, context);
  },
});
`;
}

function compilerConfig(folder: string) {
  return {
    extends: path.join(root, "tsconfig.json"),
    compilerOptions: { paths: { "gatehouse-client/*": [`${folder}/client/*.ts`] }, noEmit: true, incremental: false },
    include: ["*.ts"],
  };
}
