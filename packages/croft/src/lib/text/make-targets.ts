const maxTargets = 200;
const maxLine = 1000;

/** The targets of a Makefile that a person would name: those declared phony, and other plain words. */
export function findMakeTargets(text: string): string[] {
  const lines = text.split('\n').map((line) => line.slice(0, maxLine));
  const phony = lines.filter((line) => line.startsWith('.PHONY:')).flatMap((line) => line.slice(7).split(/\s+/));
  const rules = lines.flatMap(targetsOf).filter((name) => !name.includes('.'));
  return [...new Set([...rules, ...phony])].filter((name) => /^\w[\w.-]*$/.test(name)).slice(0, maxTargets);
}

/** Of a rule; an assignment such as `A := b` is none, and a recipe starts with a tab. */
function targetsOf(line: string): string[] {
  const colon = line.indexOf(':');
  if (colon <= 0 || /^[\s#.]/.test(line) || /^::?:?=/.test(line.slice(colon))) return [];
  const names = line.slice(0, colon);
  return /[=$%(]/.test(names) ? [] : names.trim().split(/\s+/);
}
