import type { Files } from './files.ts';

/** What a workspace is made of. */
export interface Profile {
  readonly ecosystems: readonly string[];
}

/** Knows one ecosystem by the files that mark it, in the root of a workspace. */
export interface Detector {
  readonly ecosystem: string;
  isMarker(name: string): boolean;
}

export function defineDetector(ecosystem: string, markers: readonly string[], pattern?: RegExp): Detector {
  const names = new Set(markers);
  return { ecosystem, isMarker: (name) => names.has(name) || (pattern?.test(name) ?? false) };
}

const maxEntries = 10_000;

/** Looks each time, so that a file that came or went is seen at once. */
export async function detectProfile(detectors: readonly Detector[], files: Files): Promise<Profile> {
  const { entries } = await files.list('', { limit: maxEntries });
  const isPresent = ({ isMarker }: Detector) =>
    entries.some(({ name, kind }) => kind !== 'directory' && isMarker(name));
  return { ecosystems: detectors.filter(isPresent).map(({ ecosystem }) => ecosystem) };
}
