declare module "virtual:icons" {
  const shapes: Readonly<Record<import("./icon-names.ts").IconName, string>>;
  export default shapes;
}
