/** Texts of the overview. */
export const texts = {
  "overview.title": "Overview of {name}",
  "overview.counts": "What is in {name}",
  "overview.groups": "Groups",
  "overview.identities": "Identities",
  "overview.role_bindings": "Role bindings",
  "overview.roles": "Own roles",
  "overview.repos": "Repos",
  "overview.advisories": "Advisories",
  "overview.subscriptions": "Subscriptions",
  "overview.attention": "Needs attention",
  "overview.nothing": "Nothing needs your attention.",
  "overview.unused": "{count, plural, one {# identity was never used} other {# identities were never used}}",
  "overview.expiring": "{count, plural, one {# key ends within 14 days} other {# keys end within 14 days}}",
  "overview.failing": "{count, plural, one {# delivery of events fails} other {# deliveries of events fail}}",
  "overview.inactive":
    "{count, plural, one {# promise has no force, because its author has left or lost what it gives} other {# promises have no force, because their authors have left or lost what they give}}",
  "overview.confined":
    "{count, plural, one {# identity has a role here that gives it less than it says} other {# identities have a role here that gives them less than it says}}",
  "overview.latest": "Latest changes",
  "overview.allChanges": "All changes",
  "overview.noChanges": "Nothing has changed yet.",
  "overview.server": "the server",
} as const;
