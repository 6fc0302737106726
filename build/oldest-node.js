// The oldest Node that the bundle and the package run on.

/** OpenTelemetry needs this version. */
export const oldestNode = "22.15";

/** Returns the code that ends a program on an older Node with a sentence. Any Node must be able to run it. */
export function checkOfNode() {
  const [major, minor] = oldestNode.split(".");
  return `var nodeVersion = process.versions.node.split(".");
if (nodeVersion[0] < ${major} || (nodeVersion[0] == ${major} && nodeVersion[1] < ${minor})) {
  console.error("Gatehouse needs Node ${oldestNode} or later; " + process.execPath + " is " + process.versions.node + ".");
  process.exit(1);
}`;
}
