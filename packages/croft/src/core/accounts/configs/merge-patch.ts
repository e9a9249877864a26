import { isObject, isSameJson, type ReadonlyJsonObject } from './check-json.ts';
import { invalidArgument } from './invalid-argument.ts';
import { holdsSecret, maskedValue, maskSecrets } from './mask-secrets.ts';

interface JsonPosition {
  readonly path: string;
  readonly isBelowSecret: boolean;
}

/**
 * Applies a patch to a stored value: objects are merged, other values replaced, `null` deletes its key and `********`
 * keeps the stored value. Merging into nothing returns the patch without its nulls.
 */
export function mergePatch(
  stored: unknown,
  patch: unknown,
  position: JsonPosition = { path: 'config', isBelowSecret: false },
) {
  if (patch === maskedValue) return mustHave(stored, position);
  if (Array.isArray(patch)) return mergeArray(Array.isArray(stored) ? stored : [], patch, position);
  return isObject(patch) ? mergeObject(isObject(stored) ? stored : {}, patch, position) : patch;
}

// A Map, so that no key from a caller can reach a prototype.
function mergeObject(
  stored: ReadonlyJsonObject,
  patch: ReadonlyJsonObject,
  { path, isBelowSecret }: JsonPosition,
): ReadonlyJsonObject {
  const result = new Map(Object.entries(stored));
  for (const [key, value] of Object.entries(patch)) {
    if (value === null) result.delete(key);
    else {
      const position = { path: `${path}.${key}`, isBelowSecret: isBelowSecret || holdsSecret(key, value) };
      result.set(key, mergePatch(result.get(key), value, position));
    }
  }
  return Object.fromEntries(result);
}

function mergeArray(
  stored: readonly unknown[],
  patch: readonly unknown[],
  { path, isBelowSecret }: JsonPosition,
): unknown[] {
  const isSameLength = stored.length === patch.length;
  return patch.map((element, index) => {
    if (!hasMasked(element)) return element;
    const position = { path: `${path}[${index}]`, isBelowSecret };
    return findMaskedSource(stored, element, isSameLength ? index : undefined, position);
  });
}

/**
 * Finds the stored element for a masked element. All visible parts must be equal: otherwise a secret could move to
 * another element, such as the settings of another server.
 */
function findMaskedSource(
  stored: readonly unknown[],
  element: unknown,
  index: number | undefined,
  position: JsonPosition,
): unknown {
  const isMeant = (candidate: unknown) => isSameJson(maskSecrets(candidate, position.isBelowSecret), element);
  if (index !== undefined && isMeant(stored[index])) return stored[index];
  const [first, ...others] = stored.filter(isMeant);
  return others.every((other) => isSameJson(other, first)) ? mustHave(first, position) : mustHave(undefined, position);
}

function mustHave(stored: unknown, { path }: JsonPosition): unknown {
  if (stored !== undefined) return stored;
  throw invalidArgument(
    `${path.slice(0, 500)} is ${maskedValue}, which keeps a stored value, but there is none that it stands for; send the value itself`,
    path,
  );
}

function hasMasked(value: unknown): boolean {
  if (Array.isArray(value)) return value.some(hasMasked);
  return isObject(value) ? Object.values(value).some(hasMasked) : value === maskedValue;
}
