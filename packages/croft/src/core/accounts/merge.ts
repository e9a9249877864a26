import { hidesBelow, mask, masked } from './mask.ts';
import { invalid, isObject, isSameJson, type JsonObject } from './plain-json.ts';

interface Place {
  readonly path: string;
  readonly isBelowSecret: boolean;
}

/**
 * What is stored with a patch put over it: objects are merged, everything else replaces, `null` deletes its key and
 * `********` keeps what is there. Into nothing it gives the patch itself, tidied.
 */
export function merge(stored: unknown, patch: unknown, place: Place = { path: 'config', isBelowSecret: false }) {
  if (patch === masked) return mustHave(stored, place);
  if (Array.isArray(patch)) return mergeArray(Array.isArray(stored) ? stored : [], patch, place);
  return isObject(patch) ? mergeObject(isObject(stored) ? stored : {}, patch, place) : patch;
}

// A Map, so that no key of a caller's can reach a prototype.
function mergeObject(stored: JsonObject, patch: JsonObject, { path, isBelowSecret }: Place): JsonObject {
  const result = new Map(Object.entries(stored));
  for (const [key, value] of Object.entries(patch)) {
    if (value === null) result.delete(key);
    else {
      const place = { path: `${path}.${key}`, isBelowSecret: isBelowSecret || hidesBelow(key, value) };
      result.set(key, merge(result.get(key), value, place));
    }
  }
  return Object.fromEntries(result);
}

function mergeArray(stored: readonly unknown[], patch: readonly unknown[], { path, isBelowSecret }: Place): unknown[] {
  const isSameLength = stored.length === patch.length;
  return patch.map((element, index) => {
    if (!hasMasked(element)) return element;
    const place = { path: `${path}[${index}]`, isBelowSecret };
    return findMeant(stored, element, isSameLength ? index : undefined, place);
  });
}

/**
 * The stored element that a masked one stands for. It must be the same in all that can be seen: otherwise a secret
 * would move to another place, such as from one server's settings to those of another.
 */
function findMeant(stored: readonly unknown[], element: unknown, index: number | undefined, place: Place): unknown {
  const isMeant = (candidate: unknown) => isSameJson(mask(candidate, place.isBelowSecret), element);
  if (index !== undefined && isMeant(stored[index])) return stored[index];
  const [first, ...others] = stored.filter(isMeant);
  return others.every((other) => isSameJson(other, first)) ? mustHave(first, place) : mustHave(undefined, place);
}

function mustHave(stored: unknown, { path }: Place): unknown {
  if (stored !== undefined) return stored;
  throw invalid(
    `${path.slice(0, 500)} is ${masked}, which keeps a stored value, but there is none that it stands for; send the value itself`,
    path,
  );
}

function hasMasked(value: unknown): boolean {
  if (Array.isArray(value)) return value.some(hasMasked);
  return isObject(value) ? Object.values(value).some(hasMasked) : value === masked;
}
