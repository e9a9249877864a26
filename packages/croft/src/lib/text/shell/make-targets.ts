const maxTargets = 200;
const maxLine = 1000;

/** Finds the targets of a Makefile that a person would name: phony targets and other plain words. */
export function findMakeTargets(text: string): string[] {
  const lines = text.split('\n').map((line) => line.slice(0, maxLine));
  const phony = lines.filter((line) => line.startsWith('.PHONY:')).flatMap((line) => line.slice(7).split(/\s+/));
  const rules = lines.flatMap(targetsOf).filter((name) => !name.includes('.'));
  return [...new Set([...rules, ...phony])].filter((name) => /^\w[\w.-]*$/.test(name)).slice(0, maxTargets);
}

/** Returns the targets of a rule. An assignment such as `A := b` is no rule, and a recipe line starts with a tab. */
function targetsOf(line: string): string[] {
  const colon = line.indexOf(':');
  if (colon <= 0 || /^[\s#.]/.test(line) || /^::?:?=/.test(line.slice(colon))) return [];
  const names = line.slice(0, colon);
  return /[=$%(]/.test(names) ? [] : names.trim().split(/\s+/);
}
