import { posix } from 'node:path';
import { AppError } from '@croft/protocol';
import type { Files } from '../files.ts';
import type { Detector, Profile } from './profile.ts';
import { createProjects } from './projects.ts';

/** For so long what was found counts as it was, unless one of the changes that come through here is to a setting. */
const freshMs = 1000;
const maxPlaces = 256;

export interface ProjectsAlong {
  /** The projects around a file, of those that are on the way to it from the root. */
  of(path: string): Promise<readonly Profile[]>;
  /** Told of each file that was changed, before anything is asked because of it. */
  changed(path: string): void;
}

export interface ProjectsAlongOptions {
  readonly files: Files;
  readonly detectors: readonly Detector[];
  now(): number;
}

interface Place {
  readonly detect: () => Promise<readonly Profile[]>;
  profiles: readonly Profile[];
  askedAt: number;
}

/**
 * What an edit has to know of the projects of a workspace. A whole survey takes far longer than an edit, and only
 * directories above a file can say what applies to it.
 */
export function createProjectsAlong({ files, detectors, now }: ProjectsAlongOptions): ProjectsAlong {
  const places = new Map<string, Place>();

  return {
    async of(path) {
      const place = open(posix.dirname(path));
      if (now() - place.askedAt < freshMs) return place.profiles;
      place.profiles = await place.detect();
      place.askedAt = now();
      return place.profiles;
    },
    changed(path) {
      const directory = posix.dirname(path);
      if (!isSetting(path, directory)) return;
      for (const place of places.values()) place.askedAt = Number.NEGATIVE_INFINITY;
    },
  };

  function open(directory: string): Place {
    const known = places.get(directory);
    if (known) return known;
    if (places.size >= maxPlaces) places.clear();
    const detect = createProjects({ files: onlyAlong(files, directory), detectors, onChange() {} });
    const place: Place = { detect, profiles: [], askedAt: Number.NEGATIVE_INFINITY };
    places.set(directory, place);
    return place;
  }

  /** One that marks a project, or lies beside those that do. */
  function isSetting(path: string, directory: string): boolean {
    const name = posix.basename(path);
    if (name === 'croft.toml' || posix.basename(directory) === '.croft') return true;
    if (detectors.some((detector) => detector.isMarker(name) || detector.isHint?.(name) || detector.isTrace?.(name)))
      return true;
    const own = directory === '.' ? '' : directory;
    return [...places.values()].some(({ profiles }) => profiles.some((profile) => profile.directory === own));
  }
}

/** As if nothing could be read but the directories on the way; the next of them stands first, to be within every limit. */
function onlyAlong(files: Files, directory: string): Files {
  const names = directory === '.' ? [] : directory.split('/');
  const isOnTheWay = (path: string) => path === '' || directory === path || directory.startsWith(`${path}/`);
  return {
    ...files,
    async list(path, options) {
      if (!isOnTheWay(path)) throw new AppError('E_FILE_NOT_FOUND', `not on the way: ${path}`);
      const listing = await files.list(path, options);
      const next = names[path === '' ? 0 : path.split('/').length];
      const isNext = ({ name }: { name: string }) => name === next;
      const rest = listing.entries.filter((entry) => !isNext(entry));
      return { ...listing, entries: [...listing.entries.filter(isNext), ...rest] };
    },
  };
}
